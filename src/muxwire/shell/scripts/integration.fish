# fish 3.1 and later. Started as: MUXWIRE_NONCE=.. MUXWIRE_BODY=.. fish --init-command 'source integration.fish'
# And sourced again by a command that has erased all functions, at its end.
if status is-interactive; and not functions -q _mxw_p
    if not set -q _mxw_n
        set -g _mxw_n $MUXWIRE_NONCE
        set -g _mxw_file $MUXWIRE_BODY
        set -e MUXWIRE_NONCE
        set -e MUXWIRE_BODY
        # After the user's files, which may start a tmux where there is no TMUX.
        set -q MUXWIRE_TMUX; and set -e TMUX TMUX_PANE MUXWIRE_TMUX
        set -g _mxw_c true
        set -g _mxw_r (status filename)
        set -g _mxw_d
        # The prompt's number, in two parts: low 1..1000, high counts the rounds. A table gives the next low without a
        # substitution, which would cost two pipes at every prompt.
        set -g _mxw_next (seq 2 1000) 1
        set -g _mxw_low 1000
        set -g _mxw_high 0
    end

    # P: a prompt is about to be drawn. The terminal is the editor's by then, which is said too (A).
    function _mxw_p --on-event fish_prompt
        set -l s $status
        set -q _mxw_w; and _mxw_o
        set -e _mxw_kept _mxw_due
        set -q _mxw_half; and _mxw_back
        set -g _mxw_low $_mxw_next[$_mxw_low]
        test $_mxw_low = 1; and _mxw_k
        set -q _mxw_to[1]; and builtin printf '\e[?1049l' >/dev/tty # our line did not come to S
        set -e _mxw_to
        builtin printf '\033]7770;P;%s;%d%04d;%s;%s;%s;%s\007\033]7770;A;%s;1\007' $_mxw_n $_mxw_high $_mxw_low $fish_pid $s "$PWD" $_mxw_n $_mxw_n >/dev/tty
        return $s
    end

    # C: a command line was accepted. A line that erases all functions erases these hooks, but no key binding. So for a
    # line that may do so the terminal is sent a status request (DSR 5): its answer, `ESC [ 0 n`, is bound to a command
    # that defines the functions again.
    function _mxw_a --on-event fish_preexec
        builtin printf '\033]7770;C;%s;%d%04d\007' $_mxw_n $_mxw_high $_mxw_low >/dev/tty
        string match -q '*functions*-*e*' -- "$argv"; and builtin printf '\033[5n' >/dev/tty
    end

    # D: the exact end of output; fish draws its missing-newline mark after this.
    function _mxw_z --on-event fish_postexec
        set -l s $status
        builtin printf '\033]7770;D;%s;%d%04d;%s\007' $_mxw_n $_mxw_high $_mxw_low $s >/dev/tty
        return $s
    end

    # The typed line's first part: takes the body and prints S.
    function _mxw_b
        builtin source $_mxw_file
    end

    # The typed line's last part: E.
    function _mxw_e
        set -l s $status
        set -q _mxw_w; and _mxw_o
        builtin printf '\033]7770;E;%s;%s;%s;%s\007' $_mxw_d $s "$PWD" $_mxw_d >/dev/tty
        return $s
    end

    # The last status again, after a line that did something else.
    function _mxw_h
        return $argv
    end

    # The way back, after a command that was given a directory of its own.
    function _mxw_o
        builtin cd $_mxw_w
        set -e _mxw_w
    end

    # The private keys, always both. A line that a person has half typed is set aside for a command of ours, and what is
    # typed meanwhile goes in at its cursor. Its place is the kill ring: at the next prompt fish takes no new text from
    # here, but runs `yank` before it reads what was typed.
    function _mxw_aside
        set -l text (commandline -b)                   # without a pipe: nearly always it is empty
        if test -n "$text"
            set text (commandline -b | string collect)
            set -e _mxw_kept
            if set -q _mxw_half
                commandline -r -- $_mxw_half
                commandline -C $_mxw_at
                commandline -i -- $text
            end
            set -g _mxw_half (commandline -b | string collect)
            set -g _mxw_at (commandline -C)
            set -g _mxw_mode $fish_bind_mode           # of vi's: our line is taken in `insert`
            set text (commandline -b | string collect -N)
            set -g _mxw_left (math (string length -- $text) - 1 - $_mxw_at)
            commandline -f beginning-of-buffer begin-selection end-of-buffer kill-selection end-selection
        end
    end

    # The second key saves the prompt's end in the terminal, with room for our line (46 columns) below it; in a window
    # where that needs more than two rows, our line is drawn out of sight, on the alternate screen.
    function _mxw_take
        set -g _mxw_to \e'[?1049h'
        test $COLUMNS -gt 46 -a $LINES -gt 3; and set -g _mxw_to
        builtin printf '\eD\eD\eM\eM\e7%s' $_mxw_to >/dev/tty
    end

    # At the prompt after the command.
    function _mxw_back
        commandline -f yank
        for at in (seq $_mxw_left)
            commandline -f backward-char
        end
        set -g fish_bind_mode $_mxw_mode
        set -g _mxw_kept $_mxw_half
        set -e _mxw_half
    end

    # Our line comes to a prompt that was not seen to have its line back: that is set aside once more. The kill ring has
    # it still, unless more was typed: then all of it is set aside, and our line is taken when the terminal has answered
    # a status request (DSR 5): by then fish has cleared the line.
    function _mxw_again
        set -l text (commandline -b | string collect)
        if test "$text" = "$_mxw_kept"
            set -g _mxw_half $_mxw_kept
        else if test -n "$text"
            _mxw_aside
            set -g _mxw_due
            builtin printf '\e[5n' >/dev/tty
            return 1
        end
        set -e _mxw_kept
    end

    # The answer, after which our line is taken, unless still more was typed.
    function _mxw_now
        set -l text (commandline -b | string collect)
        if test -n "$text"
            _mxw_aside
            builtin printf '\e[5n' >/dev/tty
            return 1
        end
        set -e _mxw_due
    end

    # At the first prompt, after config.fish, so that the user's key bindings and title exist; then every 1000 prompts.
    function _mxw_k
        set -g _mxw_high (math $_mxw_high + 1)
        set -l line "_mxw_take; commandline -r ' _mxw_b; eval \$_mxw_c; _mxw_e'; commandline -f execute"
        set -l take $line
        set line "not set -q _mxw_kept; or _mxw_again; and begin; $line; end"
        set -l clear _mxw_aside
        set -l mend 'functions -q _mxw_p; or begin; source $_mxw_r; _mxw_p; commandline -f repaint; end'
        set mend "$mend; set -q _mxw_due; and _mxw_now; and begin; $take; end"
        for m in default insert visual replace_one
            bind -M $m -m insert \e\[7770~ $line 2>/dev/null
            bind -M $m -m insert \e\[7771~ $clear 2>/dev/null
            bind -M $m \e\[0n $mend 2>/dev/null
        end
        contains -- $fish_key_bindings fish_vi_key_bindings fish_hybrid_key_bindings; or begin
            bind \e\[7770~ $line
            bind \e\[7771~ $clear
            bind \e\[0n $mend
        end
        # At each `cd` fish reports the directory to its terminal (OSC 7), which would be output of the command; tmux asks the kernel.
        functions -e __fish_update_cwd_osc __update_cwd_osc
        # Our line is no title to show; and fish's own title function is slower than all the rest of a command.
        functions -q _mxw_t; or not functions -q fish_title; and return
        functions -c fish_title _mxw_t
        function fish_title
            string match -q -r '^ ?_mxw_' -- "$argv[1]" (status current-command); or _mxw_t $argv
        end
    end
end
