/// The scripts that make a shell call `playhead complete`. Each script calls the program named in the command line, so
/// that a copy elsewhere completes itself.
enum CompletionScript: String, CaseIterable {
  case bash
  case zsh
  case fish

  /// The output of `playhead completions`.
  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  // bash also splits words at `=` and `:`. The script rejoins them by the spaces of the line. Of each candidate it
  // returns only the part after the last separator.
  private static let bashText = #"""
    # Completion of playhead for bash, written by `playhead completions bash`.
    _playhead() {
      local rest=${COMP_LINE#*"${COMP_WORDS[0]}"} words=() current=${COMP_WORDS[COMP_CWORD]} word line kind head i program
      for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $rest == [[:space:]]* || ${#words[@]} -eq 0 ]]; then words+=("$word"); else words[${#words[@]}-1]+=$word; fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
      done
      # Quotes and backslashes are the shell's, not the word's.
      for i in "${!words[@]}"; do words[i]=${words[i]//[\'\"\\]/}; done
      # Of what stands in front, the shell will expand the home; the last word it does not have yet.
      for ((i = 0; i < ${#words[@]} - 1; i++)); do [[ ${words[i]} == '~/'* ]] && words[i]=$HOME${words[i]#'~'}; done
      program=${COMP_WORDS[0]}
      [[ $program == '~/'* ]] && program=$HOME${program#'~'}
      COMPREPLY=()
      word=${words[${#words[@]}-1]}
      head=
      [[ $word == *[=:]* && $current != "$word" ]] && head=${word%"${word##*[=:]}"}
      kind=
      while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=${line%%$'\t'*}; continue; fi
        line=${line%%$'\t'*}
        [[ $line == *[=:] ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${line#"$head"}")
      done < <("$program" complete -- "${words[@]}" 2>/dev/null)
      # What means something to the shell is quoted, unless that was begun already.
      if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[\<\>\*]* && $current != [\'\"]* ]]; then COMPREPLY=("'${COMPREPLY[0]}'"); fi
      if [[ $kind == files ]]; then
        # The shell's own way to complete files is gone when there are words, too.
        if ((${#COMPREPLY[@]})); then
          while IFS= read -r line; do
            COMPREPLY+=("$line")
            compopt -o filenames 2>/dev/null
          done < <(compgen -f -- "${word#"$head"}")
        else
          compopt -o bashdefault -o default 2>/dev/null
        fi
      fi
      return 0
    }
    complete -F _playhead playhead

    """#

  private static let zshText = #"""
    #compdef playhead
    # Completion of playhead for zsh, written by `playhead completions zsh`.
    _playhead() {
      local -a lines open closed
      local line word text kind prefix
      local -a front
      # Of what stands in front, the shell will expand the home; the last word it does not have yet.
      front=("${(@)${(@Q)words[1,CURRENT-1]}/#\~\//$HOME/}")
      lines=("${(@f)$("$front[1]" complete -- "${(@)front[2,-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
      kind=${lines[1]%%$'\t'*}
      prefix=${lines[1]#*$'\t'}
      for line in "${(@)lines[2,-1]}"; do
        word=${line%%$'\t'*}
        text=${line#*$'\t'}
        word=${word//:/\\:}
        if [[ $word == *= ]]; then open+=("$word:$text"); else closed+=("$word:$text"); fi
      done
      (( $#closed )) && _describe -t values value closed
      (( $#open )) && _describe -t values value open -S ''
      if [[ $kind == files ]]; then
        [[ -n $prefix ]] && compset -P '*='
        _files
      fi
    }
    if [[ $funcstack[1] == _playhead ]]; then _playhead "$@"; else compdef _playhead playhead; fi

    """#

  private static let fishText = #"""
    # Completion of playhead for fish, written by `playhead completions fish`.
    function __playhead_ask
        # Of what stands in front, the shell will expand the home; the last word it does not have yet.
        set -l tokens (string replace -r -- '^~(?=/|$)' "$HOME" (commandline -opc))
        set -l current (commandline -ct)
        type -q -- "$tokens[1]"; or return
        $tokens[1] complete -- $tokens[2..-1] "$current" 2>/dev/null
    end
    function __playhead_words
        set -l lines (__playhead_ask)
        for line in $lines[2..-1]
            echo $line
        end
    end
    function __playhead_files
        set -l lines (__playhead_ask)
        string match -q -r -- '^files\t' "$lines[1]"
    end
    complete -c playhead -f -a '(__playhead_words)'
    # Files are the shell's own: it knows its quotes.
    complete -c playhead -n __playhead_files -F

    """#
}
