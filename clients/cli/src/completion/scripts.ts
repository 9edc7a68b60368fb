/**
 * Writes the completion scripts of shells. A script gives the words of the command line to this program, and the candidates to its shell.
 * It evaluates no candidate: in bash, `compgen -W` would expand `$(…)` in a name.
 */
import { COMPLETE, type CompletedShell } from './complete.ts'

const PROGRAMS = ['keyplane', 'kubectl-keyplane'] as const

const bash = `# keyplane completion bash: source it, such as in ~/.bashrc
_keyplane() {
  local line
  local -a found=()
  COMPREPLY=()
  while IFS= read -r line; do
    found+=("$line")
  done < <("\${COMP_WORDS[0]}" ${COMPLETE} bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
  if [ "\${found[0]-}" = ':files' ]; then
    type compopt >/dev/null 2>&1 && compopt -o filenames
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
  else
    COMPREPLY=(\${found[@]+"\${found[@]}"})
  fi
}
complete -F _keyplane ${PROGRAMS.join(' ')}
`

const zsh = `#compdef ${PROGRAMS.join(' ')}
# keyplane completion zsh: source it after compinit, such as in ~/.zshrc, or put it into a folder of fpath as _keyplane
_keyplane() {
  local line tab=$'\\t'
  local -a found values shown
  found=("\${(@f)$("\${(Q)words[1]}" ${COMPLETE} zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  if [[ "\${found[1]}" == ':files' ]]; then
    _files
    return
  fi
  for line in "\${found[@]}"; do
    [[ -z "$line" ]] && continue
    values+=("\${line%%$tab*}")
    if [[ "$line" == *$tab* ]]; then shown+=("\${line%%$tab*}  -- \${line#*$tab}"); else shown+=("$line"); fi
  done
  (( \${#values} )) && compadd -l -d shown -a values
}
if [[ "\${funcstack[1]}" == '_keyplane' ]]; then _keyplane "$@"
elif (( \${+functions[compdef]} )); then compdef _keyplane ${PROGRAMS.join(' ')}
fi
`

const fish = `# keyplane completion fish: source it, or put it into ~/.config/fish/completions/keyplane.fish
function __keyplane_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    test (count $word) -eq 0; and set word ''
    set -l found ($words[1] ${COMPLETE} fish -- $words[2..-1] "$word" 2>/dev/null </dev/null)
    if test "$found[1]" = ':files'
        __fish_complete_path "$word"
    else
        printf '%s\\n' $found
    end
end
${PROGRAMS.map((program) => `complete -c ${program} -f -a '(__keyplane_complete)'`).join('\n')}
`

const powershell = `# keyplane completion powershell: run it in your profile: keyplane completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName ${PROGRAMS.join(', ')} -ScriptBlock {
    param($word, $ast, $position)
    $before = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.Extent.Text })
    # Older versions drop empty arguments.
    $last = if ($word) { $word } else { "''" }
    $found = @(& $ast.CommandElements[0].Extent.Text ${COMPLETE} powershell '--' @before $last 2>$null)
    if ($found.Count -gt 0 -and $found[0] -eq ':files') {
        Get-ChildItem -Name -Path "$word*" -ErrorAction SilentlyContinue | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
        return
    }
    foreach ($line in $found) {
        $value, $help = $line -split "\\t", 2
        if (-not $value) { continue }
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
`

const SCRIPTS: Readonly<Record<CompletedShell, string>> = { bash, zsh, fish, powershell }

export const scriptOf = (shell: CompletedShell): string => SCRIPTS[shell]
