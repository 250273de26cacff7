# bash 3.2 and later. Started as: MUXWIRE_NONCE=.. MUXWIRE_BODY=.. bash --rcfile integration.bash -i (or by login.bash)
if [ -z "${__muxwire_n-}" ]; then
__muxwire_n=$MUXWIRE_NONCE __muxwire=$MUXWIRE_BODY __muxwire_q=0 __muxwire_l=${MUXWIRE_LOGIN-}
unset MUXWIRE_NONCE MUXWIRE_BODY MUXWIRE_LOGIN MUXWIRE_FILES # nothing of ours stays exported
# A DEBUG trap would run before each word of ours. So it is set anew, with a condition before the user's text: not from Q
# to the prompt hook (`__muxwire_f`), in our functions (`set -T`), or before what has a name of ours in it. A `case` leaves
# `$?` and `$_` alone. It is given what `trap -p` prints, which in a function is nothing, and sets the words to evaluate.
__muxwire_trap() {
  __muxwire_u=
  case $1 in *'trap -- '*'{__muxwire_f:+x}'* | "") \builtin return 0 ;; esac
  \builtin eval "set -- ${1#*trap -- }"
  \builtin printf -v __muxwire_u '\\builtin trap -- %q DEBUG' \
    'case ${__muxwire_f:+x}:${FUNCNAME-}:$BASH_COMMAND in x:* | *__muxwire* | *:_mux* | *\$_mux*) ;; *) '"$1"$'\n;; esac'
}
__muxwire_trap='__muxwire_trap "$(\builtin trap -p DEBUG)"; \builtin eval "$__muxwire_u"'
__muxwire_seen='[[ $_ == __muxwire_p ]] || \builtin eval "$__muxwire_trap"'
__muxwire_after='[[ $_ == __muxwire_said ]] || \builtin eval "$__muxwire_trap"'

if [ -n "$__muxwire_l" ]; then
  [ -r /etc/profile ] && . /etc/profile
  for __muxwire_l in ~/.bash_profile ~/.bash_login ~/.profile; do
    [ -r "$__muxwire_l" ] && { . "$__muxwire_l"; break; }
  done
else                                                # bash itself reads /etc/bash.bashrc where it is built to
  [ -r ~/.bashrc ] && . ~/.bashrc
fi
[ -z "${MUXWIRE_TMUX-}" ] || unset TMUX TMUX_PANE MUXWIRE_TMUX # after the user's files, which may start a tmux without it
{ __muxwire_f=1; \builtin : __muxwire; [[ $_ == __muxwire ]] || \builtin eval "$__muxwire_trap"; } &>/dev/null
# ble.sh replaces readline and its key bindings, ours too, and keeps what commands write to stderr: it is detached here.
case ${BLE_VERSION-} in
  ?*) case ${_ble_attached-} in ?*) ble-detach/impl ;; esac
      ble-attach() { \builtin :; } ;;
esac
__muxwire_s=0 __muxwire_g= __muxwire_k= __muxwire_d= __muxwire_z= __muxwire_head=$'\e]7770;Q;'
__muxwire_w= __muxwire_to= __muxwire_size= __muxwire_ps1= __muxwire_ps2=$'\\[\e]7770;A;'$__muxwire_n$';2\a\\]'

# What a trace or the user's traps write where words of ours stand goes to /dev/null: `&>/dev/null` takes bash a third of
# the time of a redirection that is in a variable.

# P: a prompt is about to be drawn; nothing if Q has said so. Keeps $? for whatever runs after it. Here and below only the
# mark itself goes to the tty: with functrace the user's traps run in our functions too.
__muxwire_p() {
  __muxwire_s=$?
  __muxwire_tell
  \builtin return "$__muxwire_s"
}
__muxwire_tell() {
  PS1=${PS1%"$__muxwire_ps1"}
  case $__muxwire_f in
    "") __muxwire_q=$((__muxwire_q + 1)) __muxwire_k=
        __muxwire_m=$'\e]7770;P;'"$__muxwire_n;$__muxwire_q;$$;$__muxwire_s;${PWD-};$__muxwire_n"$'\a'
        __muxwire_h
        \builtin printf %s "$__muxwire_m" >&0 || \builtin printf %s "$__muxwire_m" >/dev/tty ;;
  esac
  case $__muxwire_to in ?*) __muxwire_to=; \builtin printf '\e[?1049l' >/dev/tty ;; esac # our line did not come to S
  \builtin unset -v __muxwire_p1
  __muxwire_f=
}

# The prompt's last bytes, which the last prompt hook puts on: they make room for our line, save the cursor, and say (A)
# that the prompt is drawn. P and S take them off again: who compares PS1 with what they set it to finds that. In a
# window where our line (46 columns) needs more than two rows, the end is not saved, and A says so. A shell that traces
# is silent from the key for our line to S, and from Q to here (`__muxwire_w`).
__muxwire_on() {
  __muxwire_u=$?
  [[ ${COLUMNS-}:${LINES-}:$SHELLOPTS == "$__muxwire_size" ]] || __muxwire_room
  PS1=${PS1-}$__muxwire_ps1
  case $__muxwire_w in x) __muxwire_w=; \builtin set -x ;; esac
  \builtin return "$__muxwire_u"
}
__muxwire_room() {
  __muxwire_size=${COLUMNS-}:${LINES-}:$SHELLOPTS __muxwire_ps1=$'\eD\eD\eM\eM\e7' __muxwire_v=0
  case :$SHELLOPTS: in *:emacs:* | *:vi:*) __muxwire_v=1 ;; esac
  [[ ${COLUMNS:-80} -gt 46 && ${LINES:-24} -gt 3 ]] || __muxwire_ps1= __muxwire_v=$((__muxwire_v * 4))
  __muxwire_ps1="\\[$__muxwire_ps1"$'\e]7770;A;'"$__muxwire_n;$__muxwire_v"$'\a\\]'
  case ${PS2-} in *"$__muxwire_ps2") ;; *) PS2=${PS2-}$__muxwire_ps2 ;; esac
}

# S, where our words could show; elsewhere the text begins by printing it. `set` need not show the text. The clock (bash 5)
# is read here and by Q: how long the command took.
__muxwire_a() {
  PS1=${__muxwire_p1-${PS1%"$__muxwire_ps1"}}
  __muxwire_b= __muxwire_x=${EPOCHREALTIME-}
  \builtin printf "$__muxwire_a" >&0 || \builtin printf "$__muxwire_a" >/dev/tty
  case $__muxwire_w in x) __muxwire_w=; \builtin set -x ;; esac
}

# Q: E and P in one mark, and 0. Nothing is to come before the prompt but what comes after P too. The terminal is what the
# shell reads from: a descriptor is quicker than its name. `unset` makes a variable like any other of the clock: what is
# no time does not go into the mark. Where all is as it was found last (`__muxwire_g`), nothing shows the words of ours
# that follow, as long as `$-` stays, `$?` is 0 and no person has been at a prompt, as `__muxwire_k` says. Then the prompt
# gets its last bytes here, if no hook of the user's comes before it (`__muxwire_z`), and PS1 is kept as it was
# (`__muxwire_p1`). Bash copies a function for each call: what is rare stands in another one.
__muxwire_e() {
  __muxwire_s=$? __muxwire_x=:${__muxwire_x-}:${EPOCHREALTIME-} __muxwire_f=1 __muxwire_q=$((__muxwire_q + 1)) __muxwire_u=
  case $__muxwire_x in *[!0-9.,:]*) __muxwire_x= ;; esac
  __muxwire_m=$__muxwire_head$__muxwire_d\;$__muxwire_s$__muxwire_x\;$__muxwire_q\;$__muxwire_n\;${PWD-}\;$__muxwire_d$'\a'
  __muxwire_d=
  \builtin printf -v __muxwire_u 7 && [[ $__muxwire_u == 7 ]] && \builtin printf %s "$__muxwire_m" >&0 && __muxwire_m= &&
    [[ ${PROMPT_COMMAND+${#PROMPT_COMMAND}}:${#SHELLOPTS}:$-:${HISTCONTROL-}:${COLUMNS-}:${LINES-} == "$__muxwire_g" ]] &&
    __muxwire_k=$-0 __muxwire_p1=${PS1-} PS1=$__muxwire_p1$__muxwire_z && \builtin return 0
  __muxwire_look
}
# The rest of it: the mark was not printed, or something has changed. A command may have disabled a builtin that the mark
# needs, or defined a function of its name; `builtin` gets past a function, unless that is called `builtin`. What was
# changed is repaired, and reported (N) before Q; if it was `return` alone, behind it.
__muxwire_look() {
  __muxwire_h "" 0
  case $__muxwire_m in ?*) \builtin printf %s "$__muxwire_m" >/dev/tty ;; esac
  __muxwire_i __muxwire_e
  __muxwire_p1=${PS1-} __muxwire_p1=${__muxwire_p1%"$__muxwire_ps1"} PS1=$__muxwire_p1$__muxwire_z
}

# If a command has hidden or disabled one of them, it is put back, and N says so. Keeps $?, or returns what it is given
# for that; if all is well, the `eval` returns from here.
__muxwire_h() {
  __muxwire_u=${2-$?} __muxwire_v=
  \builtin eval "${1-}"'\builtin printf -v __muxwire_v 7x && \builtin return "$__muxwire_u"'
  \unset -f builtin
  \enable builtin
  \builtin enable eval printf . return bind declare local unset enable
  \builtin printf '\033]7770;N;%s;1\007' "$__muxwire_n" >/dev/tty
  \builtin return "$__muxwire_u"
}

# The end of the text: Q, unseen by the user's traps and trace, and 0. The empty line ends a backslash's continuation. It
# is short, for bash parses it once more for each command. `$_` is not `__muxwire_e` if a DEBUG trap has run between, which
# is a new one.
__muxwire_c='
{ __muxwire_e; [[ $_ == __muxwire_e ]] || \builtin eval "$__muxwire_new"; } &>/dev/null'
__muxwire_new="__muxwire_hide; $__muxwire_trap"

# Q, if an error kept the text from getting to it.
__muxwire_x() {
  __muxwire_e
  __muxwire_hide
}

# Until the next Q has looked closer, our words are hidden.
__muxwire_hide() {
  __muxwire_g= __muxwire_k=
}

# What the wrapper's file evaluates where nothing says that our words do not show (`__muxwire_k`). S, the text's first
# line, is hidden and hands `$?` on; a shell that shows what it reads (`set -v`) gets the bare text. `&&` keeps the shell
# alive under `set -e`, and an ERR trap quiet; without need it would have a DEBUG trap run after S.
__muxwire_j='case $__muxwire_to in ?*) __muxwire_to=; \builtin printf "\\033[?1049l" >/dev/tty ;; esac
case $__muxwire_q$- in *v*) __muxwire_b=${__muxwire_b%"$__muxwire_c"} ;; esac
case $__muxwire_s in 0) __muxwire_v= ;; *) __muxwire_v="; _mux && :" ;; esac
__muxwire_b="{ __muxwire_a$__muxwire_v; } &>/dev/null${__muxwire_b#*||__muxwire_a}"'

# What the typed line evaluates: the wrapper's file sets the text. Its status is 0. The typed `eval` of bash 3 says 0 of
# what it cannot parse: there the file evaluates the text, and leaves it nothing to do.
__muxwire_v='\builtin eval "$__muxwire_b"; { case $__muxwire_d in ?*) __muxwire_x || :;; esac; }'
case $BASH_VERSION in
  [123].*) __muxwire_j="$__muxwire_j; $__muxwire_v &>/dev/null" ;;
esac
_mux='\builtin . "$__muxwire"; '"$__muxwire_v &>/dev/null"

# The end of the typed line: the command's status, for the user.
_mux() { \builtin return "$__muxwire_s"; }

# The prompt hook where no other hook is given `$?`. It returns 0 if Q has announced this prompt already. Until P it calls
# no builtin: if C-c ended a command that had hidden one by a function, there was no Q to put that right.
__muxwire_said() {
  __muxwire_s=$?
  case $__muxwire_f$__muxwire_w in 1) __muxwire_f= ;; *) __muxwire_tell; __muxwire_on; [[ -n "" ]] ;; esac
}

# (Re-)install, and find out whether our words have to be hidden. Q calls it where something has changed, so that it heals
# after `unset PROMPT_COMMAND`, and our last hook stays the last one.
__muxwire_i() {
  \builtin local p='__muxwire_p && \builtin eval "$__muxwire_seen"' alone hook last told
  hook="{ $p; } &>/dev/null" last='{ __muxwire_on; } &>/dev/null'
  # Bash parses this once more for each prompt: what is rare stands in a variable.
  alone='{ __muxwire_said || \builtin eval "$__muxwire_after"; } &>/dev/null'
  [[ ${COLUMNS-}:${LINES-}:$SHELLOPTS == "$__muxwire_size" ]] || __muxwire_room
  case ":${HISTCONTROL-}:" in
    *:ignorespace:* | *:ignoreboth:*) ;;
    *)                                              # bash-preexec removes it; our line may be in the history by then
      HISTCONTROL=${HISTCONTROL:+$HISTCONTROL:}ignorespace told=
      case $__muxwire_q in 0) ;; *) told=$(HISTTIMEFORMAT= \builtin history 1 2>/dev/null) ;; esac
      case $told in
        *\;_mux\&\&:) told=${told#"${told%%[0-9]*}"}; \builtin history -d "${told%%[!0-9]*}" ;;
      esac ;;
  esac
  case "${PROMPT_COMMAND[*]-}" in
    "$alone" | *__muxwire_p*"$last") ;;
    "") \builtin printf -v PROMPT_COMMAND %s "$alone" ;;
    *)
      told=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) told=${told#declare -}
      case "${PROMPT_COMMAND[*]}" in *"$alone"*) ;; *__muxwire_p*) hook=: ;; esac
      case "${told%% *}" in
        *r*) ;;                                     # readonly: live without P, Q still works
        *a*) PROMPT_COMMAND=("${PROMPT_COMMAND[@]//"$alone"/:}")
             PROMPT_COMMAND=("$hook" "${PROMPT_COMMAND[@]//"$last"/:}" "$last") ;;
        *) PROMPT_COMMAND=${PROMPT_COMMAND//"$alone"/:}
           PROMPT_COMMAND=$hook$'\n'${PROMPT_COMMAND//"$last"/:}$'\n'$last ;;
      esac ;;
  esac
  case "${PROMPT_COMMAND[*]-}" in "$alone") __muxwire_z=$__muxwire_ps1 ;; *) __muxwire_z= ;; esac
  __muxwire_hide
  case ${1-}$-$BASH_VERSION in
    __muxwire_e*[xvTE]* | __muxwire_e*[!.0-9][123].*) ;;
    __muxwire_e*)
      __muxwire_g=${PROMPT_COMMAND+${#PROMPT_COMMAND}}:${#SHELLOPTS}:$-:${HISTCONTROL-}:${COLUMNS-}:${LINES-} __muxwire_k=$-0 ;;
  esac
  case $- in *x*) __muxwire_w=x; \builtin set +x ;; esac
}
__muxwire_h &>/dev/null                             # a start-up file may have hidden them
case ${COLUMNS-} in "") (\builtin :; \builtin :) ;; esac # bash looks how large the window is (`checkwinsize`)
__muxwire_i

# C: a command line was accepted. Older shells have no PS0; the others say so now, as of a prompt number 0. What the
# user's PS0 prints for our line is drawn out of sight, on the alternate screen (`__muxwire_to`).
case $BASH_VERSION in
  [123].* | 4.[0-3]*) ;;
  *) __muxwire_ps0=${PS0-}
     PS0=$'\e]7770;C;'$__muxwire_n$';$__muxwire_q\a'${PS0:+'$__muxwire_to'}${PS0-}
     \builtin printf '\033]7770;C;%s;0\007' "$__muxwire_n" >/dev/tty ;;
esac

# The private key. What a person has half typed is set aside, our line takes its place, and after the command what was set
# aside comes back, at the cursor with what was typed meanwhile: a macro's rest is read before that. Behind a key that
# waits for more, the key's first ESC was taken for text.
__muxwire_half= __muxwire_at=0 __muxwire_bound=
__muxwire_line=' \builtin eval "$_mux";_mux&&:'
__muxwire_take() {
  case $-:$READLINE_LINE$__muxwire_half$__muxwire_bound${__muxwire_ps0-} in
    *x*:* | *:?*) __muxwire_aside ;;
  esac
  READLINE_LINE=$__muxwire_line READLINE_POINT=${#__muxwire_line}
}
__muxwire_aside() {
  case $- in *x*) __muxwire_w=x; \builtin set +x ;; esac
  \builtin local map
  case ${READLINE_LINE:0:READLINE_POINT} in
    *$'\e') READLINE_LINE=${READLINE_LINE:0:READLINE_POINT-1}${READLINE_LINE:READLINE_POINT} READLINE_POINT=$((READLINE_POINT - 1)) ;;
  esac
  __muxwire_half=${__muxwire_half:0:__muxwire_at}$READLINE_LINE${__muxwire_half:__muxwire_at}
  __muxwire_at=$((__muxwire_at + READLINE_POINT))
  case $PS0 in *\$__muxwire_to*) __muxwire_to=$'\e[?1049h' __muxwire_k= ;; esac
  case ${__muxwire_half:+x}:$__muxwire_bound in
    x:)                                             # what the command mode of vi has goes one column to the left
      for map in emacs-standard vi-insert; do \builtin bind -m "$map" '"\e[y": "\e[~\e[x"'; done
      \builtin bind -m vi-command '"\e[y": "\e[~\e[r\e[u"'
      __muxwire_bound=x ;;
    :x)
      for map in emacs-standard vi-insert vi-command; do \builtin bind -m "$map" '"\e[y": "\e[~"'; done
      __muxwire_bound= ;;
  esac
}
__muxwire_back() {
  READLINE_LINE=${__muxwire_half:0:__muxwire_at}$READLINE_LINE${__muxwire_half:__muxwire_at}
  READLINE_POINT=$((__muxwire_at + READLINE_POINT)) __muxwire_half= __muxwire_at=0
}

# The private keys, in these keymaps: our line, and Enter whatever the user bound to it. The plain one (`CSI }`) clears no
# row of the screen, as what `-x` binds does, and forgets what is typed; bash 3, which does not tell its functions what is
# typed, has that one only. The other one is a macro, for C-r ends by our ESC, and what -x binds is unknown then.
__muxwire_k() {
  \builtin local map insert key quoted bound
  quoted=${__muxwire_line//\\/\\\\} quoted=${quoted//\"/\\\"}
  bound=$'\n'$(\builtin bind -m emacs-standard -s)
  for map; do
    case $map in vi-command) insert=i ;; *) insert= ;; esac
    # So a terminal's answer of this form begins (DCS: XTVERSION, DECRQSS). As M-p it would begin a search, which takes
    # all keys after it, ours too. Where a person has bound it, it stays.
    case $map:$bound in
      emacs-standard:*$'\n"\\eP"'*) ;;
      emacs-standard:*) \builtin bind -m "$map" '"\eP": ""' ;;
    esac
    \builtin bind -m "$map" '"\e[{": kill-whole-line'
    \builtin bind -m "$map" '"\e[~": accept-line'
    \builtin bind -m "$map" "\"\\e[}\": \"\\e[{$insert$quoted\\C-m\""
    \builtin bind -m "$map" '"\e[y": "\e[~"'
    \builtin bind -m "$map" '"\e[u": vi-movement-mode'
    \builtin bind -m "$map" -x '"\e[s": { __muxwire_take; } &>/dev/null'
    \builtin bind -m "$map" -x '"\e[x": { __muxwire_back "$_"; } &>/dev/null'
    \builtin bind -m "$map" -x '"\e[r": { __muxwire_back "$_"; READLINE_POINT=$((READLINE_POINT + 1)); } &>/dev/null'
    for key in '\e[q' '\e\e[q' '\e\e\e[q' '\C-x\e[q' '\C-x\e\e[q'; do
      case $map:$key:$BASH_VERSION in
        vi-*:*C-x*) ;;
        *:[123].*) \builtin bind -m "$map" "\"$key\": \"\\e[}\"" ;;
        *) \builtin bind -m "$map" "\"$key\": \"\\e[s\\e[y\"" ;;
      esac
    done
  done
}
__muxwire_k emacs-standard vi-insert vi-command 2>/dev/null
unset -f __muxwire_k
# A command that unsets all functions gets an error for each of these; without them no command would run any more.
\builtin readonly -f _mux __muxwire_p __muxwire_tell __muxwire_on __muxwire_room __muxwire_a __muxwire_e __muxwire_look __muxwire_hide __muxwire_said __muxwire_h __muxwire_x __muxwire_i __muxwire_trap __muxwire_take __muxwire_aside __muxwire_back
__muxwire_f=
fi
