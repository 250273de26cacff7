# errors, tmux 3.3a
> no-such-command
> display-message -p "after an unknown command"
> kill-pane -t "%99"
> display-message -p "after a failure"
> set-option -g no-such-option 1
+ 0.009
< %begin 1795258784 260 0
< %end 1795258784 260 0
< %window-add @0
< %sessions-changed
< %session-changed $0 hub
< %begin 1795258784 266 1
< parse error: unknown command: no-such-command
< %error 1795258784 266 1
< %begin 1795258784 267 1
< after an unknown command
< %end 1795258784 267 1
< %begin 1795258784 268 1
< can't find pane: %99
< %error 1795258784 268 1
< %begin 1795258784 269 1
< after a failure
< %end 1795258784 269 1
< %begin 1795258784 270 1
< invalid option: no-such-option
< %error 1795258784 270 1
> display-message -p first ; kill-pane -t "%99" ; display-message -p dropped
> display-message -p "in its place"
< %begin 1795258784 271 1
< first
< %end 1795258784 271 1
< %begin 1795258784 272 1
< can't find pane: %99
< %error 1795258784 272 1
< %begin 1795258784 273 1
< in its place
< %end 1795258784 273 1
> 
< %exit
= 
