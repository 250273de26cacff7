# zsh. Sourced by our .zshenv, before the user's files.
typeset -gi __muxwire_q=0 __muxwire_at=-1
typeset -g __muxwire_x=
zmodload zsh/parameter 2>/dev/null || typeset -gA functions dis_builtins
zmodload -F zsh/datetime p:EPOCHREALTIME 2>/dev/null # S and E read it: how long a command took

# P: a prompt is about to be drawn. Here and below only the mark itself goes to the tty: the user's DEBUG trap runs in
# our functions too.
__muxwire_p() {
  {
    local s=$?
    \builtin setopt localoptions noerrexit noerrreturn
    __muxwire_at=-1
    (( ++__muxwire_q, ${+functions[builtin]} || ${#dis_builtins} )) && __muxwire_h
    \builtin printf '\033]7770;P;%s;%s;%s;%s;%s;%s\007' "$__muxwire_n" $__muxwire_q $$ $s "$PWD" "$__muxwire_n" >/dev/tty
    \builtin return 0                               # zsh keeps $? itself
  } &>/dev/null
}

# C: a command line was accepted.
__muxwire_c() {
  {
    [[ -z ${__muxwire_m+x} ]] || { ZSH_HIGHLIGHT_MAXLENGTH=$__muxwire_m; \builtin unset __muxwire_m }
    \builtin printf '\033]7770;C;%s;%s\007' "$__muxwire_n" $__muxwire_q >/dev/tty
    \builtin return 0
  } &>/dev/null
}

# E. A body that could not be parsed has not printed S where the shell has a DEBUG trap. Before the words of ours that end
# a body that trap runs once more, and nothing can be done about it but to say so (N). To ask for traps takes a process: that
# is done (`?`) behind a command that speaks of them.
_muxe() {
  local s=$? t=:${__muxwire_y-}:${EPOCHREALTIME-}
  [[ -n $__muxwire_d ]] || \builtin return 0
  \builtin setopt localoptions noerrexit noerrreturn
  # C-c in a loop of builtins leaves the status of the one that ran. TRAPINT may return 1 itself.
  (( ${TRY_BLOCK_INTERRUPT-0} > 0 && (s == 0 || s == 2 || (s == 1 && ! ${+functions[TRAPINT]})) )) && s=130
  (( ${+functions[builtin]} || ${#dis_builtins} )) && __muxwire_h
  if [[ $__muxwire_x == '?' ]]; then
    if [[ $(\builtin trap) == *DEBUG* ]]; then __muxwire_x=1; else __muxwire_x=; fi
  fi
  [[ -n $__muxwire_x ]] && \builtin printf '\033]7770;N;%s;2\007' "$__muxwire_n" >/dev/tty
  \builtin printf '\033]7770;E;%s;%s%s;%s;%s\007' "$__muxwire_d" $s "${t//[^0-9.,:]}" "$PWD" "$__muxwire_d" >/dev/tty
  __muxwire_s=$s __muxwire_d=
  __muxwire_i
}

# Nothing of this goes without these builtins, of which `builtin` reaches all but itself. If a command has hidden or
# disabled one, it is put back, and N says so. Keeps $?, or returns what it is given for that.
__muxwire_h() {
  local s=${2-$?}
  if (( ${+functions[builtin]} || ${+dis_builtins[builtin]} || ${+dis_builtins[eval]} || ${+dis_builtins[printf]} ||
      ${+dis_builtins[.]} || ${+dis_builtins[return]} )); then
    \unfunction builtin
    \enable builtin
    \builtin enable eval printf . return unfunction enable
    \builtin printf '\033]7770;N;%s;1\007' "$__muxwire_n" >/dev/tty
  fi &>/dev/null
  \builtin return "$s"
}

# The end of the text: E, and 0, so that `set -e` and traps do not take the `eval` for a failed command.
__muxwire_g=$'\n\nif _muxe; then :; fi &>/dev/null'

# Hands on the last status, and at the end of the typed line the command's, for the user. PRINT_EXIT_VALUE has printed it
# already. A shell that traces is silent from the typed line to S: `_muxw` has what ends that. No function can, for
# zsh puts the option back at its end.
_muxw= _muxn=/dev/null                                # short names, for the typed line wraps
_mux() { \builtin return "$__muxwire_s" } 2>/dev/null

# S, when the shell has a DEBUG trap: printed by the body's first line, so that what the `eval` calls forth
# comes before it.
__muxwire_t() {
  local text="() { \\builtin \\setopt localoptions noxtrace noverbose noerrreturn; "
  local format
  for format; do text+="\\builtin \\printf '$format' >/dev/tty; "; done
  _mux=$text'\builtin \return "$1" } "$__muxwire_s" &>/dev/null && { }'$'\n'$_mux
}

# The wrapper's line goes into a history of its own, which zsh forgets after the hook. (A hook that only says no would
# leave the line there for one press of the up key.)
__muxwire_l() {
  {
    [[ $1 == ' { { \builtin \. "$__muxwire";}'* || $1 == ' __muxwire_h '* ]] && \builtin fc -p
    \builtin return 0
  } 2>/dev/null
}

# What a person has half typed comes back at the next prompt, with the cursor where it was. What is typed after it was set
# aside goes in at that place: lines that are set aside one after the other would come back one at a time.
__muxwire_y() {
  [[ -n $BUFFER ]] || \builtin return 0
  if (( __muxwire_at >= 0 )); then
    local more=$BUFFER
    BUFFER=
    zle .get-line
    CURSOR=$__muxwire_at
    LBUFFER+=$more
  fi
  __muxwire_at=$CURSOR
  zle .push-input
}

# The private key. Out of an unfinished line (PS2) zsh only
# returns to a new prompt; the line did not start then, and is typed again.
__muxwire_k() {
  [[ $CONTEXT == start ]] || { zle push-input; \builtin return }
  __muxwire_y
  BUFFER=' { { \builtin \. "$__muxwire";} 2>$_muxn&&:;\builtin \eval "$_mux";} always { { _muxe;} 2>$_muxn;}'
  BUFFER+=';{ \builtin \eval "$_muxw";_mux&&:;} 2>$_muxn'
  # Plugins that colour the line take 10 to 30 ms for ours, which nobody is to see: they leave alone what is too long.
  [[ -n ${functions[_zsh_highlight]+x} && ${(t)ZSH_HIGHLIGHT_MAXLENGTH-} != *readonly* ]] &&
    typeset -g __muxwire_m=${ZSH_HIGHLIGHT_MAXLENGTH-} ZSH_HIGHLIGHT_MAXLENGTH=0
  zle .accept-line
}

# The key before it, where we have to see where the prompt ends; it writes something (no colour) in any case.
__muxwire_z() {
  if [[ $CONTEXT == start ]]; then __muxwire_y; else zle .push-input; fi
  { \builtin printf '\033[m' >/dev/tty } 2>/dev/null
}

# (Re-)install; E calls it.
__muxwire_i() {
  (( ${precmd_functions[(I)__muxwire_p]-0} && ${zshaddhistory_functions[(I)__muxwire_l]-0} )) && \builtin return
  emulate -L zsh
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  (( $precmd_functions[(I)__muxwire_p] )) || precmd_functions=(__muxwire_p $precmd_functions)
  (( $preexec_functions[(I)__muxwire_c] )) || preexec_functions+=(__muxwire_c)
  (( $zshaddhistory_functions[(I)__muxwire_l] )) || zshaddhistory_functions=(__muxwire_l $zshaddhistory_functions)
  zle -N __muxwire_k
  zle -N __muxwire_z
  local m
  for m in emacs viins vicmd; do bindkey -M $m '\e[7770~' __muxwire_k '\e[7771~' __muxwire_z; done
}
__muxwire_i

# A .zshrc may reset the hooks before the first prompt; the scheduler runs after precmd and has a second look.
__muxwire_f() {
  (( __muxwire_q )) && \builtin return
  __muxwire_i
  __muxwire_p
}
{ zmodload zsh/sched && sched +0 __muxwire_f } 2>/dev/null
