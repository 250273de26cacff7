# zsh. Sourced by our .zshenv, before the user's files.
typeset -gi __muxwire_q=0

# P: a prompt is about to be drawn.
__muxwire_p() {
  {
    local s=$?
    (( ++__muxwire_q ))
    \builtin printf '\033]7770;P;%s;%s;%s;%s;%s;%s\007' "$__muxwire_n" $__muxwire_q $$ $s "$PWD" "$__muxwire_n"
    return 0                                        # zsh keeps $? itself; `set -e` would take s for a failure
  } >/dev/tty 2>/dev/null
}

# C: a command line was accepted.
__muxwire_c() {
  { \builtin printf '\033]7770;C;%s;%s\007' "$__muxwire_n" $__muxwire_q; return 0 } >/dev/tty 2>/dev/null
}

# E. A body that could not be parsed while the shell traces has not printed S.
__muxwire_e() {
  local s=$?
  [[ -n $__muxwire_d ]] || return 0
  {
    (( (s == 0 || s == 2) && ${TRY_BLOCK_INTERRUPT-0} > 0 )) && s=130 # what C-c in a loop leaves
    \builtin printf '\033]7770;E;%s;%s;%s;%s\007' "$__muxwire_d" $s "$PWD" "$__muxwire_d"
    __muxwire_s=$s __muxwire_d=
    __muxwire_i
  } >/dev/tty 2>/dev/null
}

# The end of the text: E, and 0, so that `set -e` and traps do not take the `eval` for a failed command.
__muxwire_g=$'\n\nif __muxwire_e; then :; fi &>/dev/null'

# The end of the typed line: the command's status, for the user.
_mux() { return $__muxwire_s; }

# S, when the shell traces: printed by the body's first line, so that the trace of the `eval` comes before it.
__muxwire_t() {
  local text="() { setopt localoptions noxtrace noverbose; "
  local format
  for format; do text+="\\builtin printf '$format'; "; done
  _mux=$text'return "$1" } "$?" >/dev/tty 2>/dev/null'$'\n'$_mux
}

# The wrapper's line goes into a history of its own, which zsh forgets after the hook. (A hook that only says no would
# leave the line there for one press of the up key.)
__muxwire_h() {
  [[ $1 == ' { \. "$__muxwire"'* ]] && fc -p
  return 0
}

# The private key: what a person has half typed comes back at the next prompt. Out of an unfinished line (PS2) zsh only
# returns to a new prompt; the line did not start then, and is typed again.
__muxwire_k() {
  [[ $CONTEXT == start ]] || { zle push-input; return }
  [[ -n $BUFFER ]] && zle .push-input
  BUFFER=' { \. "$__muxwire";\eval "$_mux"; } always { { __muxwire_e; } 2>/dev/null; };_mux&&:'
  zle .accept-line
}

# (Re-)install; E calls it.
__muxwire_i() {
  (( ${precmd_functions[(I)__muxwire_p]-0} && ${zshaddhistory_functions[(I)__muxwire_h]-0} )) && return
  emulate -L zsh
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  (( $precmd_functions[(I)__muxwire_p] )) || precmd_functions=(__muxwire_p $precmd_functions)
  (( $preexec_functions[(I)__muxwire_c] )) || preexec_functions+=(__muxwire_c)
  (( $zshaddhistory_functions[(I)__muxwire_h] )) || zshaddhistory_functions=(__muxwire_h $zshaddhistory_functions)
  zle -N __muxwire_k
  local m
  for m in emacs viins vicmd; do bindkey -M $m '\e[7770~' __muxwire_k; done
}
__muxwire_i

# A .zshrc may reset the hooks before the first prompt; the scheduler runs after precmd and has a second look.
__muxwire_f() {
  (( __muxwire_q )) && return
  __muxwire_i
  __muxwire_p
}
{ zmodload zsh/sched && sched +0 __muxwire_f } 2>/dev/null
