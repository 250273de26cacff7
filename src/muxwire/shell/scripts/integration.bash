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
__muxwire_s=0 __muxwire_g= __muxwire_k= __muxwire_o=/dev/null __muxwire_r=/dev/null __muxwire_l=/dev/null
__muxwire_w= __muxwire_z=

# Where our words could show (a trace, the user's traps), what they write goes to /dev/null: `__muxwire_o` says so for
# the typed line, `__muxwire_r` for the prompt hook. Where nothing could, both are empty, which is no redirection at all.

# P: a prompt is about to be drawn; nothing if Q has said so. Keeps $? for whatever runs after it. Here and below only the
# mark itself goes to the tty: with functrace the user's traps run in our functions too.
__muxwire_p() {
  __muxwire_s=$? __muxwire_r=/dev/null
  case $__muxwire_f in
    "") __muxwire_q=$((__muxwire_q + 1)) __muxwire_o=/dev/null
        __muxwire_m=$'\e]7770;P;'"$__muxwire_n;$__muxwire_q;$$;$__muxwire_s;${PWD-};$__muxwire_n"$'\a'
        __muxwire_y
        [[ $? == 7 ]] || __muxwire_h
        \builtin printf %s "$__muxwire_m" >&0 || \builtin printf %s "$__muxwire_m" >/dev/tty
        __muxwire_z ;;
  esac
  __muxwire_f=
  case $__muxwire_w in x) __muxwire_w=; \builtin set -x ;; esac
  \builtin return "$__muxwire_s"
}

# A shell that traces is silent from the key for our line to S, and from Q to the prompt (`__muxwire_w`): only what is
# redirected does not show. So while it traces that key stops it first, which readline has done by a command of the shell
# (`__muxwire_z` is what the key is bound to, if that can be).
__muxwire_z() {
  \builtin local map
  case $__muxwire_z:$-$__muxwire_w in
    plain:*x*) __muxwire_z=stops; set -- '"\e[}": "\e[v\e[y"' ;;
    stops:*x*) \builtin return ;;
    stops:*) __muxwire_z=plain; set -- '"\e[}": insert-comment' ;;
    *) \builtin return ;;
  esac
  for map in emacs-standard vi-insert vi-command; do \builtin bind -m "$map" "$1"; done
}

# S. `set` need not show the text. The clock (bash 5) is read here and by Q: how long the command took.
__muxwire_a() {
  __muxwire_b= __muxwire_o=/dev/null __muxwire_x=${EPOCHREALTIME-}
  \builtin printf "$__muxwire_a" >&0 || \builtin printf "$__muxwire_a" >/dev/tty
  case $__muxwire_w in x) __muxwire_w=; \builtin set -x ;; esac
}

# Before Q: what it says, and 0. `unset` makes a variable like any other of the clock: only what a time may have goes into
# the mark. A command may have disabled a builtin that the mark needs, or defined a function of its name; `builtin` gets
# past a function, unless that is called `builtin`. So the builtins are tried here, `return` by returning, and what was
# changed is repaired and reported (N) before Q.
__muxwire_e() {
  __muxwire_s=$? __muxwire_x=:${__muxwire_x-}:${EPOCHREALTIME-} __muxwire_f=1 __muxwire_q=$((__muxwire_q + 1))
  __muxwire_m=$'\e]7770;Q;'"$__muxwire_d;$__muxwire_s${__muxwire_x//[!0-9.,:]};$__muxwire_q;$__muxwire_n;${PWD-};$__muxwire_d"$'\a'
  __muxwire_d=
  \builtin printf -v __muxwire_u x && \builtin return 0
  __muxwire_h "" 0
}

# Q: E and P in one mark. Nothing is to come before the prompt but what comes after P too. The terminal is what the shell
# reads from: a descriptor is quicker than its name. It is given `$_`, which is not `__muxwire_e` if a DEBUG trap has run
# between, which is a new one: then it returns a failure. Where that is so, or anything else is not as it was found last
# (`__muxwire_g`), look closer; else nothing shows the words of ours that follow, as long as `$-` stays, `$?` is 0 and
# `__muxwire_o` is empty, which are the parts of `__muxwire_k`.
__muxwire_q() {
  \builtin printf %s "$__muxwire_m" >&0 || \builtin printf %s "$__muxwire_m" >/dev/tty
  [[ $1${PROMPT_COMMAND-}${HISTCONTROL-}$SHELLOPTS == "$__muxwire_g" ]] || __muxwire_i "$1"
  __muxwire_o=$__muxwire_l __muxwire_r=$__muxwire_l
  [[ $1 == __muxwire_e ]]
}

# 7 if they are as they were.
__muxwire_y() {
  \builtin printf -v __muxwire_u x && \builtin return 7
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
# is short, for bash parses it once more for each command, which takes longer than a call.
__muxwire_c='
if __muxwire_e; then __muxwire_q "$_" || \builtin eval "$__muxwire_trap"; fi &>/dev/null'

# Q, if an error kept the text from getting to it.
__muxwire_x() {
  __muxwire_e
  __muxwire_q ""
}

# What the wrapper's file evaluates where `$-`, `$?` or `__muxwire_o` are not as they were when nothing showed our words
# (`__muxwire_k`). S, the text's first line, is hidden and hands `$?` on; a shell that shows what it reads (`set -v`)
# gets the bare text. `&&` keeps the shell alive under `set -e`, and an ERR trap quiet; without need it would have a
# DEBUG trap run after S.
__muxwire_j='__muxwire_o=/dev/null
case $__muxwire_q$- in *v*) __muxwire_b=${__muxwire_b%"$__muxwire_c"} ;; esac
case $__muxwire_s in 0) __muxwire_v= ;; *) __muxwire_v="; _mux && :" ;; esac
__muxwire_b="{ __muxwire_a$__muxwire_v; } &>/dev/null${__muxwire_b#__muxwire_a}"'

# What the typed line evaluates: the wrapper's file sets the text. Its status is 0. A redirection to 1 is none. The typed
# `eval` of bash 3 says 0 of what it cannot parse: there the file evaluates the text, and leaves it nothing to do.
__muxwire_v='\builtin eval "$__muxwire_b"; { case $__muxwire_d in ?*) __muxwire_x || :;; esac; }'
case $BASH_VERSION in
  [123].*) __muxwire_j="$__muxwire_j; $__muxwire_v &>/dev/null" ;;
esac
_mux='\builtin . "$__muxwire"; '"$__muxwire_v"' >&"${__muxwire_o:-1}"'

# The end of the typed line: the command's status, for the user.
_mux() { \builtin return "$__muxwire_s"; }

# (Re-)install, and find out whether our words have to be hidden (`__muxwire_l`). Q calls it where something has changed,
# so that it heals after `unset PROMPT_COMMAND`. `set -o posix` takes our line out of readline.
__muxwire_i() {
  \builtin local p='__muxwire_p && { [[ $_ == __muxwire_p ]] || \builtin eval "$__muxwire_trap"; }' hook told
  hook="{ $p; } "'>&"${__muxwire_r:-1}"'
  case ${__muxwire_t-}:$SHELLOPTS in ?*:*posix*) \builtin bind "$__muxwire_t" ;; esac
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
    *__muxwire_p*) ;;
    "")                                             # nothing else is given `$?`: after Q there is nothing to call
      hook='{ case $__muxwire_f$__muxwire_w in 1) __muxwire_f= __muxwire_r=/dev/null ;; *) '"$p"'; esac; } >&"${__muxwire_r:-1}"'
      \builtin printf -v PROMPT_COMMAND %s "$hook" ;;
    *)
      told=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) told=${told#declare -}
      case "${told%% *}" in
        *r*) ;;                                     # readonly: live without P, Q still works
        *a*) PROMPT_COMMAND=("$hook" "${PROMPT_COMMAND[@]}") ;;
        *) PROMPT_COMMAND=$hook$'\n'$PROMPT_COMMAND ;;
      esac ;;
  esac
  __muxwire_g= __muxwire_k= __muxwire_l=/dev/null
  case ${1-}$-$BASH_VERSION in
    __muxwire_e*[xvTE]* | __muxwire_e*[!.0-9][123].*) ;;
    __muxwire_e*) __muxwire_g=$1${PROMPT_COMMAND-}${HISTCONTROL-}$SHELLOPTS __muxwire_k=$-0 __muxwire_l= ;;
  esac
  case $- in *x*) __muxwire_w=x; \builtin set +x ;; esac
  __muxwire_z
}
__muxwire_h &>/dev/null                             # a start-up file may have hidden them
__muxwire_i

# C: a command line was accepted. Older shells have no PS0; the others say so now, as of a prompt number 0. What the
# user's PS0 prints stands below the typed line: the redraw goes up by as many rows more (`__muxwire_up`).
__muxwire_up=
case $BASH_VERSION in
  [123].* | 4.[0-3]*) ;;
  *) __muxwire_u=${PS0-} __muxwire_u=${__muxwire_u//\\n/$'\n'} __muxwire_u=${__muxwire_u//[!$'\n']/}
     case $__muxwire_u in ?*) __muxwire_up='\033['${#__muxwire_u}A ;; esac
     PS0=$'\e]7770;C;'$__muxwire_n$';$__muxwire_q\a'${PS0-}
     \builtin printf '\033]7770;C;%s;0\007' "$__muxwire_n" >/dev/tty ;;
esac

# A line that a person has half typed is set aside for a command of ours, and what is typed meanwhile goes in at its
# cursor. The signs, which nobody sees, say that the key was read, and the first one that something is set aside. bash 3
# does not tell its functions what is typed.
__muxwire_half= __muxwire_at=0
__muxwire_aside() {
  __muxwire_half=${__muxwire_half:0:__muxwire_at}${READLINE_LINE-}${__muxwire_half:__muxwire_at}
  __muxwire_at=$((__muxwire_at + ${READLINE_POINT-0})) READLINE_LINE= READLINE_POINT=0
  case $__muxwire_half in ?*) \builtin printf '\e[0;0m' ;; esac >/dev/tty
  \builtin printf '\e[m' >/dev/tty
}

# At the prompt after the command: a macro's rest is read before what was typed meanwhile.
__muxwire_back() {
  READLINE_LINE=${__muxwire_half:0:__muxwire_at}$READLINE_LINE${__muxwire_half:__muxwire_at}
  READLINE_POINT=$((__muxwire_at + READLINE_POINT)) __muxwire_half= __muxwire_at=0
}

# The private keys, in these keymaps: forget what is typed; set it aside; our line and Enter, whatever the user bound; the
# same, and then what was set aside. Readline asks three times for each character that is typed, and redraws after each
# of a macro. What it types at once is the comment that `insert-comment` begins a line with: that is our line, and the
# keys that people have for comments do what they did by a macro. The value has to stand in quotes for its first space,
# and keeps the backslashes of those in it. Where readline does not know quotes, as in bash 3.2, the line is a macro;
# Escape in a macro means another thing there to vi. All that readline is asked is asked in one process, and what it said
# is cut by `%%` alone: with `*` in front of what is looked for, bash tries every length, 4 ms of each new tab.
__muxwire_k() {
  \builtin local line=' \builtin eval \\builtin eval \"\$_mux\";_mux&&:' quoted said keys comment map insert bound
  quoted=${line//\\/\\\\} quoted=${quoted//\"/\\\"}
  said=$(
    for map; do \builtin bind -m "$map" -q insert-comment; done
    \builtin bind -v; \builtin bind "set comment-begin \"$line\""; \builtin bind -v
    \builtin bind -m emacs-standard -s
  )
  bound=$said comment=${said%%set comment-begin *}
  comment=${said:${#comment}} comment=${comment#set comment-begin } comment=${comment%%$'\n'*}
  comment=${comment//\\/\\\\} comment=${comment//\"/\\\"}
  case $said in
    *"set comment-begin $line"$'\n'*) __muxwire_t="set comment-begin \"$line\"" && \builtin bind "$__muxwire_t" ;;
    *) said= ;;
  esac
  for map; do
    case $map in vi-command) insert=i ;; *) insert= ;; esac
    # So a terminal's answer of this form begins (DCS: XTVERSION, DECRQSS). As M-p it would begin a search, which takes
    # all keys after it, ours too. Where a person has bound it, it stays.
    case $map:$bound in
      emacs-standard:*$'\n"\\eP"'*) ;;
      emacs-standard:*) \builtin bind -m "$map" '"\eP": ""' ;;
    esac
    \builtin bind -m "$map" '"\e[{": kill-whole-line'
    case $BASH_VERSION in
      [123].*)
        \builtin bind -m "$map" '"\e[z": "\e[{\e[x"'
        \builtin bind -m "$map" '"\e[w": "\e[}"'
        \builtin bind -m "$map" -x '"\e[x": { __muxwire_aside "$_"; } &>/dev/null' ;;
      *)
        # A macro, for C-r ends by our ESC, and what -x binds is unknown then. ESC and C-x wait for more, which is ours.
        \builtin bind -m "$map" '"\e[z": "\e[t"'
        \builtin bind -m "$map" '"\e[w": "\e[}\e[x"'
        case $map in
          emacs-standard) \builtin bind -m "$map" '"\e\e[z": "\e[t"'; \builtin bind -m "$map" '"\C-x\e[z": "\e[t"' ;;
          vi-insert) \builtin bind -m "$map" '"\e[u": vi-movement-mode' ;;  # which goes one column to the left
          *) \builtin bind -m "$map" '"\e[w": "\e[}\e[r\e[u"' ;;
        esac
        \builtin bind -m "$map" -x '"\e[t": { __muxwire_aside "$_"; } &>/dev/null'
        \builtin bind -m "$map" -x '"\e[x": { __muxwire_back "$_"; } &>/dev/null'
        \builtin bind -m "$map" -x '"\e[r": { __muxwire_back "$_"; READLINE_POINT=$((READLINE_POINT + 1)); } &>/dev/null' ;;
    esac
    \builtin bind -m "$map" '"\e[|": beginning-of-line'
    \builtin bind -m "$map" '"\e[~": accept-line'
    keys=${said%%$'\n'*} said=${said#*$'\n'}
    while case $keys in *\"*\"*) ;; *) \builtin false ;; esac; do
      keys=${keys#*\"}
      \builtin bind -m "$map" "\"${keys%%\"*}\": \"\\e[|$insert$comment\\e[~\""
      keys=${keys#*\"}
    done
    case $said in
      "") \builtin bind -m "$map" "\"\\e[}\": \"$insert$quoted\\C-m\"" ;;
      *) \builtin bind -m "$map" '"\e[}": insert-comment'
         case $BASH_VERSION in
           [123].* | 4.[0-2]*) ;;
           *) \builtin bind -m "$map" '"\e[y": insert-comment'
              \builtin bind -m "$map" -x '"\e[v": { __muxwire_w=x; \builtin set +x; } &>/dev/null'
              __muxwire_z=plain ;;
         esac ;;
    esac
  done
}
__muxwire_k emacs-standard vi-insert vi-command 2>/dev/null
unset -f __muxwire_k
# A command that unsets all functions gets an error for each of these; without them no command would run any more.
\builtin readonly -f _mux __muxwire_p __muxwire_z __muxwire_a __muxwire_e __muxwire_q __muxwire_y __muxwire_h __muxwire_x __muxwire_i __muxwire_trap __muxwire_aside __muxwire_back
__muxwire_f=
fi
