# zsh. Sourced by our .zshenv, before the user's files.
typeset -gi __muxwire_q=0

# P: a prompt is about to be drawn.
__muxwire_p() {
  local s=$?
  (( ++__muxwire_q ))
  { \builtin printf '\033]7770;P;%s;%s;%s;%s;%s;%s\007' "$__muxwire_n" $__muxwire_q $$ $s "$PWD" "$__muxwire_n" } >/dev/tty 2>/dev/null
  return s
}

# C: a command line was accepted.
__muxwire_c() {
  { \builtin printf '\033]7770;C;%s;%s\007' "$__muxwire_n" $__muxwire_q } >/dev/tty 2>/dev/null
  return 0
}

# The wrapper's line goes into a history of its own, which zsh forgets after the hook. (A hook that only says no would
# leave the line there for one press of the up key.)
__muxwire_h() {
  [[ $1 == ' \. "$__muxwire"'* ]] && fc -p
  return 0
}

# The private key: what a person has half typed comes back at the next prompt. Out of an unfinished line (PS2) zsh only
# returns to a new prompt; the line did not start then, and is typed again.
__muxwire_k() {
  [[ $CONTEXT == start ]] || { zle push-input; return }
  [[ -n $BUFFER ]] && zle .push-input
  BUFFER=' \. "$__muxwire"'
  zle .accept-line
}

# (Re-)install; every wrapper calls it.
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
