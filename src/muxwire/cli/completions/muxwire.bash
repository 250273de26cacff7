# bash completion for muxwire; put `source <(muxwire completion bash)` into ~/.bashrc
_muxwire() {
    local value help
    COMPREPLY=()
    while IFS=$'\t' read -r value help; do
        case $value in
            :files) compopt -o default ;;
            :dirs) compopt -o dirnames ;;
            :commands) while read -r value; do COMPREPLY+=("$value"); done < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}") ;;
            *) printf -v value %q "$value" && COMPREPLY+=("$value") ;;
        esac
    done < <(muxwire completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _muxwire muxwire
