# A login shell reads no --rcfile. In POSIX mode it reads $ENV, and nothing else: from there on it is put right.
# Started as: MUXWIRE_LOGIN=1 MUXWIRE_FILES=(here) ENV='$MUXWIRE_FILES/login.bash' bash --posix -l -i, with what
# integration.bash wants and MUXWIRE_ENV=$ENV.
set +o posix
\builtin shopt -u inherit_errexit 2>/dev/null       # what POSIX mode sets, and does not take back
case $(\builtin declare -p HISTFILE 2>/dev/null) in "declare -x"*) ;; *) HISTFILE=~/.bash_history ;; esac
case $(\builtin declare -p MAILCHECK 2>/dev/null) in "declare -ix"*) ;; *) MAILCHECK=60 ;; esac
if [ -n "${MUXWIRE_ENV+x}" ]; then ENV=$MUXWIRE_ENV; else unset ENV; fi
unset MUXWIRE_ENV
. "$MUXWIRE_FILES/integration.bash"
