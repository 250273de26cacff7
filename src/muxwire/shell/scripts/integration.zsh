# zsh. Sourced by our .zshenv, before the user's files; and by a command that has erased all functions, at its end.
typeset -gi _mxw_q _mxw_at=-1
typeset -g _mxw_x='?' _mxw_to= _mxw_seen= _mxw_b= _mxw_v= _mxw_r=${(%):-%x}
typeset -ga _mxw_a=()
zmodload zsh/parameter 2>/dev/null || { typeset -gA functions dis_builtins jobstates; functions[_muxe]=1 functions[_mxw_p]=1 }
zmodload -F zsh/datetime p:EPOCHREALTIME 2>/dev/null # S and E read it: how long a command took

# P: a prompt is about to be drawn. Here and below only the mark itself goes to the tty: the user's DEBUG trap runs in
# our functions too.
_mxw_p() {
  {
    local s=$?
    _mxw_v=$- _mxw_at=-1 _mxw_a=() _mux=$_mxw_late
    \builtin setopt localoptions noerrexit noerrreturn noxtrace
    (( ++_mxw_q, ${+functions[builtin]} || ${#dis_builtins} )) && _mxw_h
    _mxw_d
    {
      [[ -z $_mxw_to ]] || \builtin printf '\033[?1049l'
      _mxw_to=
      \builtin printf '\033]7770;P;%s;%s;%s;%s;%s;%s\007' "$_mxw_n" $_mxw_q $$ $s "$PWD" "$_mxw_n"
      [[ -o zle ]] || \builtin printf '\033]7770;A;%s;3\007' "$_mxw_n"
    } >/dev/tty
  } &>/dev/null
  # Before zsh 5.9.1 `bg` and `fg` make a job of our typed line the current one (`setprevjob` in its jobs.c). It has ended
  # by now, and zsh looks for another one when a job is named: here one that is none, and outside of any group, for that
  # would be a job. (`jobs` would keep `exit` from warning of stopped jobs.)
  (( ${#jobstates} )) && \builtin disown %_mxw_ &>/dev/null
  \builtin return 0                                 # zsh keeps $? itself
}

# A command line was accepted: S, if the key has read what our line is to run, else C. Behind a line that may erase all
# functions the scheduler, which runs after precmd, looks.
_mxw_c() {
  {
    _mxw_s=$?
    [[ -z ${_mxw_m+x} ]] || { ZSH_HIGHLIGHT_MAXLENGTH=$_mxw_m; \builtin unset _mxw_m }
    if (( ${#_mxw_a} )); then
      _mux=$_mxw_b
      _mxw_start || :
    else
      case $3 in
        (*unfunction*|*unhash*|*unset*|*functions*)
          sched +0 '[[ -n ${functions[_mxw_p]+x} ]] || { \builtin . "$_mxw_r"; _mxw_p }' ;;
      esac
      [[ $3 != *DEBUG* ]] || _mxw_x='?'
      \builtin printf '\033]7770;C;%s;%s\007' "$_mxw_n" $_mxw_q >/dev/tty
    fi
    \builtin return 0
  } &>/dev/null
}

# A DEBUG trap would run before each word of ours. So it is set anew, with a condition before the user's text: not before
# what has a name of ours in it, nor in our functions and the wrapper's file. It is looked for where TRAPDEBUG is new, and
# (`?`), since to ask for traps takes a process, at first and behind a command that speaks of them. `_mxw_x` is 1 if
# there was one without the condition, and stays so where zsh does not say what the trap runs before.
_mxw_d() {
  local text=${functions[TRAPDEBUG]-}
  [[ $_mxw_x == '?' || ( -n $text && $text != *'${_mxw_file-x} '* ) ]] || \builtin return 0
  if [[ -z $text ]]; then
    text=$'\n'$(\builtin trap)
    [[ $text == *" DEBUG"* ]] || { _mxw_x=; \builtin return 0 }
    text=${text%" DEBUG"*}
    text=${(Q)${text##*$'\n'trap -- }}
  fi
  _mxw_x=
  [[ $text != *'${_mxw_file-x} '* ]] || \builtin return 0
  _mxw_x=1
  [[ -o debugbeforecmd ]] || \builtin return 0
  text=$'case ":$ZSH_DEBUG_CMD: ${funcstack[*]} " in (*_mxw_*|*_muxe*|*:_mux*|*\'$_mux\'*|*"${_mxw_file-x} "*) ;; (*) '$text$'\n;; esac'
  if (( ${+functions[TRAPDEBUG]} )); then functions[TRAPDEBUG]=$text; else \builtin trap -- "$text" DEBUG; fi
}

# E. Before the words of ours that end a body, a DEBUG trap that is new runs once more, which is said (N).
_muxe() {
  local s=$? t=:${_mxw_y-}:${EPOCHREALTIME-}
  [[ -n $_mxw_d ]] || \builtin return 0
  \builtin setopt localoptions noerrexit noerrreturn
  # C-c in a loop of builtins leaves the status of the one that ran. TRAPINT may return 1 itself.
  (( ${TRY_BLOCK_INTERRUPT-0} > 0 && (s == 0 || s == 2 || (s == 1 && ! ${+functions[TRAPINT]})) )) && s=130
  (( ${+functions[builtin]} || ${#dis_builtins} )) && _mxw_h
  if [[ -n ${_mxw_u-} ]]; then                   # a trap that ends `wait` (`_mxw_start`), which leaves its status at 0
    (( _mxw_u )) && s=$_mxw_u
    \builtin unset _mxw_u
    \builtin unfunction TRAPURG
  fi
  _mxw_d
  if [[ -n $_mxw_x ]]; then
    \builtin printf '\033]7770;N;%s;2\007' "$_mxw_n" >/dev/tty
    [[ -o debugbeforecmd ]] && _mxw_x=
  fi
  \builtin printf '\033]7770;E;%s;%s%s;%s;%s\007' "$_mxw_d" $s "${t//[^0-9.,:]}" "$PWD" "$_mxw_d" >/dev/tty
  _mxw_s=$s _mxw_d=
  _mxw_i
}

# Nothing of this goes without these builtins, of which `builtin` reaches all but itself. If a command has hidden or
# disabled one, it is put back, and N says so. Keeps $?, or returns what it is given for that.
_mxw_h() {
  local s=${2-$?}
  if (( ${+functions[builtin]} || ${+dis_builtins[builtin]} || ${+dis_builtins[eval]} || ${+dis_builtins[printf]} ||
      ${+dis_builtins[.]} || ${+dis_builtins[return]} )); then
    \unfunction builtin
    \enable builtin
    \builtin enable eval printf . return unfunction enable
    \builtin printf '\033]7770;N;%s;1\007' "$_mxw_n" >/dev/tty
  fi &>/dev/null
  \builtin return "$s"
}

# The end of the text: E, and 0, so that `set -e` and traps do not take the `eval` for a failed command. Where the function
# is gone, and with it all others, the word for it is none, and this file is sourced: it calls the function.
_mxw_g=$'\n\nif ${functions[_muxe]+_muxe} \\builtin . "$_mxw_r" "$?"; then _mux=; fi &>/dev/null'

# The wrapper's file sets the command's id (`_mxw_d`), S with what comes before it (`_mxw_a`), the text (`_mxw_b`), what
# ends that (`_mxw_e`), and the repair of the terminal (`_mxw_o`).
_mxw_take() {
  _mxw_a=() _mxw_b= _mxw_e= _mxw_o=
  \builtin . "$_mxw_file"
  [[ $_mxw_v == *[xv]* ]] || _mxw_b+=$_mxw_e
}

# S, and how long the command takes. It may set a DEBUG trap. And it may wait for jobs without naming them: zsh 5.9 lets no
# C-c end that, only a signal with a trap (`zwaitjob` in its jobs.c); a function's return status other than 0 is then as
# an interrupt. E removes it.
_mxw_start() {
  \builtin setopt localoptions noerrexit noerrreturn
  local text
  [[ -z $_mxw_o ]] || \command stty sane </dev/tty
  _mxw_y=${EPOCHREALTIME-}
  for text in "${_mxw_a[@]}"; do
    \builtin printf %s "${_mxw_to/%h/l}$text" >/dev/tty
    _mxw_to=
  done
  _mxw_a=()
  [[ $_mxw_b != *DEBUG* ]] || _mxw_x='?'
  [[ $_mxw_b != *wait* || -n ${functions[TRAPURG]+x} ]] || {
    _mxw_u=0
    TRAPURG() { _mxw_u=130; \builtin return 130; } 2>/dev/null
  }
  \builtin return "$_mxw_s"
}

# Where words of ours could show, or a hook of the user's comes after ours, our line evaluates this. A shell that traces is
# silent from here to the text, and behind it: `_muxw` has what ends that. No function can, for zsh puts the option back
# at its end. If the shell has a DEBUG trap that hears us, the text's first line prints S, so that what the `eval` calls
# forth comes before it.
_mxw_late='{ _mxw_s=$? _mxw_v=$- _mux=;\builtin \unsetopt xtrace;_mxw_t;} 2>$_muxn&&:;\builtin \eval "$_mux"'
_mxw_t() {
  \builtin setopt localoptions noerrexit noerrreturn noverbose
  _mxw_take
  _mux=$_mxw_b
  [[ $_mxw_v != *x* ]] || {
    _muxw='_muxw=; \builtin \setopt xtrace $_muxw'
    _mux='{ \builtin \eval "$_muxw";_mux;} 2>/dev/null && { };'$_mux
  }
  if [[ -n $_mxw_x ]]; then _mux="_mxw_start &>/dev/null && { };$_mux"; else _mxw_start &>/dev/null; fi
  \builtin return "$_mxw_s"
}

# Hands on the last status, and at the end of the typed line the command's, for the user. PRINT_EXIT_VALUE has printed it
# already.
_muxw= _muxn=/dev/null                                # short names, for the typed line wraps
_mux() { \builtin return "$_mxw_s" } 2>/dev/null

# The wrapper's line goes into a history of its own, which zsh forgets after the hook. (A hook that only says no would
# leave the line there for one press of the up key.)
_mxw_l() {
  {
    [[ $1 == ' { \builtin \eval "$_mux";}'* || $1 == ' _mxw_h '* ]] && \builtin fc -p
    \builtin return 0
  } 2>/dev/null
}

# What a person has half typed comes back at the next prompt, with the cursor where it was. What is typed after it was set
# aside goes in at that place: lines that are set aside one after the other would come back one at a time. A number that
# was typed for the next key is not for this one.
_mxw_y() {
  [[ $LBUFFER != *'[7771~' ]] || LBUFFER=${${LBUFFER%'[7771~'}%$'\e'}
  [[ -n $BUFFER ]] || \builtin return 0
  if (( _mxw_at >= 0 )); then
    local more=$BUFFER
    BUFFER=
    zle .get-line
    CURSOR=$_mxw_at
    LBUFFER+=$more
  fi
  _mxw_at=$CURSOR
  zle .push-input -n 1
}

# The prompt's end is saved in the terminal, with room for our line below it: 170 columns, and what the hooks of other
# people print before a command. Where there is not so much room, and where the prompt changes as the line is accepted (a
# transient prompt), our line is drawn out of sight, on the alternate screen. `_mxw_save` is what is written for
# that, `_mxw_out` what of it goes there; they are made anew where something has changed.
_mxw_room() {
  \builtin emulate -L zsh
  local n=$(( 170 / COLUMNS + 2 + (${#preexec_functions} > 1 || ${+functions[preexec]}) )) w hooks
  if (( ${+widgets[zle-line-finish]} )); then
    hooks=(${widgets[zle-line-finish]#*:})
    zstyle -a zle-line-finish widgets w && hooks+=(${w#*:})
    [[ " ${functions[${hooks[1]:-:}]-} ${(@)hooks}" != *(reset-prompt|azhw)* ]] || n=$LINES
  fi
  _mxw_out=
  [[ $_mxw_v != *x* ]] || n=$LINES
  (( n < LINES && ! ${+functions[p10k]} )) || n=1 _mxw_out=$'\e[?1049h'
  _mxw_save=${(pl:2*n::\eD:):-}${(pl:2*n::\eM:):-}$'\e7'$_mxw_out
}

# What the key enters, after it has read what that is to run, if nothing of it will show. The other key, before it, does
# nothing: behind C-x, C-v, ESC, or a question, the first one is taken for text. Out of an unfinished line (PS2) the key
# only gets to a new prompt, where it is read again.
_mxw_line=' { \builtin \eval "$_mux";} always { { _muxe;} 2>$_muxn;};{ \builtin \eval "$_muxw";_mux&&:;} 2>$_muxn'
_mxw_k() {
  \builtin emulate -L zsh                           # WARN_NESTED_VAR would write of our variables
  case $CONTEXT in
    (start) ;;
    (cont) zle .push-input -n 1; zle -U $'\e[7770~'; \builtin return ;;
    (*) zle .push-input -n 1; \builtin return ;;
  esac
  local seen=$COLUMNS:$LINES:${#preexec_functions}:${+functions[preexec]}:${+functions[p10k]}:${widgets[zle-line-finish]-}:$_mxw_v
  [[ $seen == "$_mxw_seen" ]] || { _mxw_seen=$seen; _mxw_room }
  [[ -n $_mxw_x || $_mxw_v == *[xv]* || ${preexec_functions[-1]-} != _mxw_c ]] || _mxw_take
  [[ -z $BUFFER$POSTDISPLAY$PREDISPLAY && $_mxw_at == -1 ]] || {
    _mxw_y
    BUFFER= POSTDISPLAY= PREDISPLAY=
    zle -R
  }
  _mxw_to=$_mxw_out
  \builtin printf %s "$_mxw_save" >/dev/tty
  [[ $KEYMAP != vicmd ]] || zle -U $'\e[7773~'          # read at the next prompt
  BUFFER=$_mxw_line
  # Plugins that colour the line take 10 to 30 ms for ours, which nobody is to see: they leave alone what is too long.
  [[ -n ${functions[_zsh_highlight]+x} && ${(t)ZSH_HIGHLIGHT_MAXLENGTH-} != *readonly* ]] &&
    typeset -g _mxw_m=${ZSH_HIGHLIGHT_MAXLENGTH-} ZSH_HIGHLIGHT_MAXLENGTH=0
  zle .accept-line
}

# After the command: back in the command mode of vi, which leaves the cursor one column to the left.
_mxw_w() { zle .vi-cmd-mode }

# (Re-)install; E calls it. The editor says that it has the terminal (A) where it asks for bracketed paste, when the
# prompt is drawn, and the secondary prompt says that it is one. Where keys are not for the line (`command`: what M-x asks
# for; `viopp`: what d waits for), ours first end that. Where vi waits for a character, ESC ends that, and the rest of our
# key is for the line.
_mxw_i() {
  (( ${precmd_functions[(I)_mxw_p]-0} && ${zshaddhistory_functions[(I)_mxw_l]-0} )) &&
    [[ ${preexec_functions[-1]-}${zle_bracketed_paste-}${PS2-} == _mxw_c*$_mxw_n\;1*$_mxw_n\;2* ]] && \builtin return
  [[ ! -o promptpercent || $PS2 == *"$_mxw_n;2"* ]] || PS2+=$'%{\e]7770;A;'$_mxw_n$';2\a%}'
  emulate -L zsh
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  (( $precmd_functions[(I)_mxw_p] )) || precmd_functions=(_mxw_p $precmd_functions)
  preexec_functions=(${preexec_functions:#_mxw_c} _mxw_c) # the last one: it prints S
  (( $zshaddhistory_functions[(I)_mxw_l] )) || zshaddhistory_functions=(_mxw_l $zshaddhistory_functions)
  zle -N _mxw_k
  zle -N _mxw_w                                # this loads zle, which sets the array that follows
  [[ ${zle_bracketed_paste-} == *$_mxw_n* ]] ||
    typeset -ga zle_bracketed_paste=("${zle_bracketed_paste[1]-}"$'\e]7770;A;'$_mxw_n$';1\a' "${zle_bracketed_paste[2]-}")
  local m
  for m in emacs viins vicmd; do
    bindkey -M $m '\e[7770~' _mxw_k '\e[7771~' auto-suffix-retain '\e[7773~' _mxw_w
  done
  bindkey -M vicmd '[7771~' auto-suffix-retain
  for m in command viopp; do
    bindkey -M $m '\e[7772~' send-break
    bindkey -M $m -s '\e[7770~' '\e[7772~\e[7770~' '\e[7771~' '\e[7772~\e[7771~'
  done 2>/dev/null                                  # before zsh 5.0.8 there is no `viopp`
}
_mxw_i

# A .zshrc may reset the hooks before the first prompt; the scheduler runs after precmd and has a second look.
_mxw_f() {
  (( ${+MUXWIRE_TMUX} )) && unset TMUX TMUX_PANE MUXWIRE_TMUX # after the user's files, which may start a tmux without it
  (( _mxw_q )) && \builtin return
  _mxw_i
  _mxw_p
}
{ zmodload zsh/sched && sched +0 _mxw_f } 2>/dev/null

# The status of the command that erased them.
if (( $# )); then
  () { \builtin return "$1" } "$1"
  _muxe
fi
