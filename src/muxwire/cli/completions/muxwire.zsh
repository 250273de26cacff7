#compdef muxwire
# zsh completion for muxwire; put `source <(muxwire completion zsh)` into ~/.zshrc after compinit,
# or the file as _muxwire into a directory of $fpath
_muxwire() {
    local value help
    local -a values
    while IFS=$'\t' read -r value help; do
        case $value in
            :files) _files ;;
            :dirs) _files -/ ;;
            :commands) _command_names -e ;;
            *) values+=("${value//:/\\:}${help:+:$help}") ;;
        esac
    done < <(muxwire completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#values )) && _describe muxwire values
}
if [[ $funcstack[1] = _muxwire ]]; then _muxwire "$@"; else compdef _muxwire muxwire; fi
