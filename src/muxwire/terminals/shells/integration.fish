# fish 3.1 and later. Started as: MUXWIRE_NONCE=.. MUXWIRE_BODY=.. fish --init-command 'source integration.fish'
if status is-interactive; and not set -q __muxwire_n
    set -g __muxwire_n $MUXWIRE_NONCE
    set -g __muxwire $MUXWIRE_BODY
    set -e MUXWIRE_NONCE
    set -e MUXWIRE_BODY
    set -g __muxwire_q 0
    set -g __muxwire_c true
    set -g __muxwire_d

    # P: a prompt is about to be drawn.
    function __muxwire_p --on-event fish_prompt
        set -l s $status
        set -g __muxwire_q (math $__muxwire_q + 1)
        builtin printf '\033]7770;P;%s;%s;%s;%s;%s;%s\007' $__muxwire_n $__muxwire_q $fish_pid $s "$PWD" $__muxwire_n >/dev/tty 2>/dev/null
        set -q __muxwire_bound; or __muxwire_k # after config.fish, so that the user's key bindings exist
        return $s
    end

    # C: a command line was accepted.
    function __muxwire_a --on-event fish_preexec
        builtin printf '\033]7770;C;%s;%s\007' $__muxwire_n $__muxwire_q >/dev/tty 2>/dev/null
    end

    # D: the exact end of output; fish draws its missing-newline mark after this.
    function __muxwire_z --on-event fish_postexec
        set -l s $status
        builtin printf '\033]7770;D;%s;%s;%s\007' $__muxwire_n $__muxwire_q $s >/dev/tty 2>/dev/null
        return $s
    end

    # The typed line's first part: reads the body and prints S.
    function __muxwire_b
        builtin source $__muxwire
    end

    # The typed line's last part: E.
    function __muxwire_e
        set -l s $status
        builtin printf '\033]7770;E;%s;%s;%s;%s\007' $__muxwire_d $s "$PWD" $__muxwire_d >/dev/tty 2>/dev/null
        return $s
    end

    function __muxwire_k
        set -g __muxwire_bound 1
        for m in default insert visual replace_one
            bind -M $m -m insert \e\[7770~ "commandline -r ' __muxwire_b; eval \$__muxwire_c; __muxwire_e'; commandline -f execute" 2>/dev/null
        end
        contains -- $fish_key_bindings fish_vi_key_bindings fish_hybrid_key_bindings
        or bind \e\[7770~ "commandline -r ' __muxwire_b; eval \$__muxwire_c; __muxwire_e'; commandline -f execute"
    end
end
