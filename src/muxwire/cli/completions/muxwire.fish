# fish completion for muxwire; `muxwire completion fish > ~/.config/fish/completions/muxwire.fish`
function __muxwire_words
    set -l words (commandline -opc) (commandline -ct)
    for line in (muxwire completion fish -- $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :dirs
                __fish_complete_directories (commandline -ct)
            case :commands
                complete -C (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c muxwire -f -a '(__muxwire_words)'
