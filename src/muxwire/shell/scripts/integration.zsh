# zsh. Sourced by our .zshenv, before the user's files; and by a command that has erased all functions, at its end.
typeset -gi __muxwire_q __muxwire_at=-1
typeset -g __muxwire_x='?' __muxwire_to= __muxwire_seen= __muxwire_r=${(%):-%x}
zmodload zsh/parameter 2>/dev/null || { typeset -gA functions dis_builtins jobstates; functions[_muxe]=1 functions[__muxwire_p]=1 }
zmodload -F zsh/datetime p:EPOCHREALTIME 2>/dev/null # S and E read it: how long a command took

# P: a prompt is about to be drawn. Here and below only the mark itself goes to the tty: the user's DEBUG trap runs in
# our functions too.
__muxwire_p() {
  {
    local s=$?
    \builtin setopt localoptions noerrexit noerrreturn noxtrace
    __muxwire_at=-1
    (( ++__muxwire_q, ${+functions[builtin]} || ${#dis_builtins} )) && __muxwire_h
    __muxwire_d
    {
      [[ -z $__muxwire_to ]] || \builtin printf '\033[?1049l'
      __muxwire_to=
      \builtin printf '\033]7770;P;%s;%s;%s;%s;%s;%s\007' "$__muxwire_n" $__muxwire_q $$ $s "$PWD" "$__muxwire_n"
      [[ -o zle ]] || \builtin printf '\033]7770;A;%s;3\007' "$__muxwire_n"
    } >/dev/tty
  } &>/dev/null
  # Before zsh 5.9.1 `bg` and `fg` make a job of our typed line the current one (`setprevjob` in its jobs.c). It has ended
  # by now, and zsh looks for another one when a job is named: here one that is none, and outside of any group, for that
  # would be a job. (`jobs` would keep `exit` from warning of stopped jobs.)
  (( ${#jobstates} )) && \builtin disown %__muxwire &>/dev/null
  \builtin return 0                                 # zsh keeps $? itself
}

# C: a command line was accepted. Behind one that may erase all functions the scheduler, which runs after precmd, looks.
__muxwire_c() {
  {
    case $3 in
      (*unfunction*|*unhash*|*unset*|*functions*)
        sched +0 '[[ -n ${functions[__muxwire_p]+x} ]] || { \builtin . "$__muxwire_r"; __muxwire_p }' ;;
    esac
    [[ $3 != *DEBUG* ]] || __muxwire_x='?'
    [[ -z ${__muxwire_m+x} ]] || { ZSH_HIGHLIGHT_MAXLENGTH=$__muxwire_m; \builtin unset __muxwire_m }
    \builtin printf '\033]7770;C;%s;%s\007' "$__muxwire_n" $__muxwire_q >/dev/tty
    \builtin return 0
  } &>/dev/null
}

# A DEBUG trap would run before each word of ours. So it is set anew, with a condition before the user's text: not before
# what has a name of ours in it, nor in our functions and the wrapper's file. It is looked for where TRAPDEBUG is new, and
# (`?`), since to ask for traps takes a process, at first and behind a command that speaks of them. `__muxwire_x` is 1 if
# there was one without the condition, and stays so where zsh does not say what the trap runs before.
__muxwire_d() {
  local text=${functions[TRAPDEBUG]-}
  [[ $__muxwire_x == '?' || ( -n $text && $text != *'${__muxwire-x} '* ) ]] || \builtin return 0
  if [[ -z $text ]]; then
    text=$'\n'$(\builtin trap)
    [[ $text == *" DEBUG"* ]] || { __muxwire_x=; \builtin return 0 }
    text=${text%" DEBUG"*}
    text=${(Q)${text##*$'\n'trap -- }}
  fi
  __muxwire_x=
  [[ $text != *'${__muxwire-x} '* ]] || \builtin return 0
  __muxwire_x=1
  [[ -o debugbeforecmd ]] || \builtin return 0
  text=$'case ":$ZSH_DEBUG_CMD: ${funcstack[*]} " in (*__muxwire*|*_muxe*|*:_mux*|*\'$_mux\'*|*"${__muxwire-x} "*) ;; (*) '$text$'\n;; esac'
  if (( ${+functions[TRAPDEBUG]} )); then functions[TRAPDEBUG]=$text; else \builtin trap -- "$text" DEBUG; fi
}

# E. Before the words of ours that end a body, a DEBUG trap that is new runs once more, which is said (N).
_muxe() {
  local s=$? t=:${__muxwire_y-}:${EPOCHREALTIME-}
  [[ -n $__muxwire_d ]] || \builtin return 0
  \builtin setopt localoptions noerrexit noerrreturn
  # C-c in a loop of builtins leaves the status of the one that ran. TRAPINT may return 1 itself.
  (( ${TRY_BLOCK_INTERRUPT-0} > 0 && (s == 0 || s == 2 || (s == 1 && ! ${+functions[TRAPINT]})) )) && s=130
  (( ${+functions[builtin]} || ${#dis_builtins} )) && __muxwire_h
  if [[ -n ${__muxwire_u-} ]]; then                   # a trap that ends `wait` (zsh.py), which leaves its status at 0
    (( __muxwire_u )) && s=$__muxwire_u
    \builtin unset __muxwire_u
    \builtin unfunction TRAPURG
  fi
  __muxwire_d
  if [[ -n $__muxwire_x ]]; then
    \builtin printf '\033]7770;N;%s;2\007' "$__muxwire_n" >/dev/tty
    [[ -o debugbeforecmd ]] && __muxwire_x=
  fi
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

# The end of the text: E, and 0, so that `set -e` and traps do not take the `eval` for a failed command. Where the function
# is gone, and with it all others, the word for it is none, and this file is sourced: it calls the function.
__muxwire_g=$'\n\nif ${functions[_muxe]+_muxe} \\builtin . "$__muxwire_r" "$?"; then _mux=; fi &>/dev/null'

# Hands on the last status, and at the end of the typed line the command's, for the user. PRINT_EXIT_VALUE has printed it
# already. A shell that traces is silent from the typed line to S: `_muxw` has what ends that. No function can, for
# zsh puts the option back at its end.
_muxw= _muxn=/dev/null                                # short names, for the typed line wraps
_mux() { \builtin return "$__muxwire_s" } 2>/dev/null

# S, when the shell has a DEBUG trap that hears us: printed by the body's first line, so that what the `eval` calls forth
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
# aside goes in at that place: lines that are set aside one after the other would come back one at a time. A number that
# was typed for the next key is not for this one.
__muxwire_y() {
  [[ $LBUFFER != *'[7771~' ]] || LBUFFER=${${LBUFFER%'[7771~'}%$'\e'}
  [[ -n $BUFFER ]] || \builtin return 0
  if (( __muxwire_at >= 0 )); then
    local more=$BUFFER
    BUFFER=
    zle .get-line
    CURSOR=$__muxwire_at
    LBUFFER+=$more
  fi
  __muxwire_at=$CURSOR
  zle .push-input -n 1
}

# The private keys, always both: behind C-x, C-v, ESC, or a question, the first one was taken for text, and out of an
# unfinished line (PS2) it only returns to a new prompt.
__muxwire_z() {
  if [[ $CONTEXT == start ]]; then __muxwire_y; else zle .push-input -n 1; fi
}

# The prompt's end is saved in the terminal, with room for our line below it: 170 columns, and what the hooks of other
# people print before a command. Where there is not so much room, and where the prompt changes as the line is accepted (a
# transient prompt), our line is drawn out of sight, on the alternate screen. `__muxwire_save` is what is written for
# that, `__muxwire_out` what of it goes there; they are made anew where something has changed.
__muxwire_room() {
  \builtin emulate -L zsh
  local n=$(( 170 / COLUMNS + 2 + (${#preexec_functions} > 1 || ${+functions[preexec]}) )) w hooks
  if (( ${+widgets[zle-line-finish]} )); then
    hooks=(${widgets[zle-line-finish]#*:})
    zstyle -a zle-line-finish widgets w && hooks+=(${w#*:})
    [[ " ${functions[${hooks[1]:-:}]-} ${(@)hooks}" != *(reset-prompt|azhw)* ]] || n=$LINES
  fi
  __muxwire_out=
  (( n < LINES && ! ${+functions[p10k]} )) || n=1 __muxwire_out=$'\e[?1049h'
  __muxwire_save=${(pl:2*n::\eD:):-}${(pl:2*n::\eM:):-}$'\e7'$__muxwire_out
}

__muxwire_k() {
  [[ $CONTEXT == start ]] || { zle .push-input -n 1; \builtin return }
  local seen=$COLUMNS:$LINES:${#preexec_functions}:${+functions[preexec]}:${+functions[p10k]}:${widgets[zle-line-finish]-}
  [[ $seen == "$__muxwire_seen" ]] || { __muxwire_seen=$seen; __muxwire_room }
  [[ -z $BUFFER$POSTDISPLAY$PREDISPLAY && $__muxwire_at == -1 ]] || {
    __muxwire_y
    BUFFER= POSTDISPLAY= PREDISPLAY=
    zle -R
  }
  __muxwire_to=$__muxwire_out
  { \builtin printf %s "$__muxwire_save" >/dev/tty } 2>/dev/null
  [[ $KEYMAP != vicmd ]] || zle -U $'\e[7773~'          # read at the next prompt
  BUFFER=' { { \builtin \. "$__muxwire";} 2>$_muxn&&:;\builtin \eval "$_mux";} always { { _muxe;} 2>$_muxn;}'
  BUFFER+=';{ \builtin \eval "$_muxw";_mux&&:;} 2>$_muxn'
  # Plugins that colour the line take 10 to 30 ms for ours, which nobody is to see: they leave alone what is too long.
  [[ -n ${functions[_zsh_highlight]+x} && ${(t)ZSH_HIGHLIGHT_MAXLENGTH-} != *readonly* ]] &&
    typeset -g __muxwire_m=${ZSH_HIGHLIGHT_MAXLENGTH-} ZSH_HIGHLIGHT_MAXLENGTH=0
  zle .accept-line
}

# After the command: back in the command mode of vi, which leaves the cursor one column to the left.
__muxwire_w() { zle .vi-cmd-mode }

# (Re-)install; E calls it. The editor says that it has the terminal (A) where it asks for bracketed paste, when the
# prompt is drawn, and the secondary prompt says that it is one. Where keys are not for the line (`command`: what M-x asks
# for; `viopp`: what d waits for), ours first end that. Where vi waits for a character, ESC ends that, and the rest of our
# key is for the line.
__muxwire_i() {
  (( ${precmd_functions[(I)__muxwire_p]-0} && ${zshaddhistory_functions[(I)__muxwire_l]-0} )) &&
    [[ ${zle_bracketed_paste-}${PS2-} == *$__muxwire_n\;1*$__muxwire_n\;2* ]] && \builtin return
  [[ ! -o promptpercent || $PS2 == *"$__muxwire_n;2"* ]] || PS2+=$'%{\e]7770;A;'$__muxwire_n$';2\a%}'
  emulate -L zsh
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  (( $precmd_functions[(I)__muxwire_p] )) || precmd_functions=(__muxwire_p $precmd_functions)
  (( $preexec_functions[(I)__muxwire_c] )) || preexec_functions+=(__muxwire_c)
  (( $zshaddhistory_functions[(I)__muxwire_l] )) || zshaddhistory_functions=(__muxwire_l $zshaddhistory_functions)
  zle -N __muxwire_k
  zle -N __muxwire_z
  zle -N __muxwire_w                                # this loads zle, which sets the array that follows
  [[ ${zle_bracketed_paste-} == *$__muxwire_n* ]] ||
    typeset -ga zle_bracketed_paste=("${zle_bracketed_paste[1]-}"$'\e]7770;A;'$__muxwire_n$';1\a' "${zle_bracketed_paste[2]-}")
  local m
  for m in emacs viins vicmd; do
    bindkey -M $m '\e[7770~' __muxwire_k '\e[7771~' __muxwire_z '\e[7773~' __muxwire_w
  done
  bindkey -M vicmd '[7771~' __muxwire_z
  for m in command viopp; do
    bindkey -M $m '\e[7772~' send-break
    bindkey -M $m -s '\e[7770~' '\e[7772~\e[7770~' '\e[7771~' '\e[7772~\e[7771~'
  done 2>/dev/null                                  # before zsh 5.0.8 there is no `viopp`
}
__muxwire_i

# A .zshrc may reset the hooks before the first prompt; the scheduler runs after precmd and has a second look.
__muxwire_f() {
  (( ${+MUXWIRE_TMUX} )) && unset TMUX TMUX_PANE MUXWIRE_TMUX # after the user's files, which may start a tmux without it
  (( __muxwire_q )) && \builtin return
  __muxwire_i
  __muxwire_p
}
{ zmodload zsh/sched && sched +0 __muxwire_f } 2>/dev/null

# The status of the command that erased them.
if (( $# )); then
  () { \builtin return "$1" } "$1"
  _muxe
fi
