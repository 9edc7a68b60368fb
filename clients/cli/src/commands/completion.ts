/** `keyplane completion`: prints the completion script of a shell. */
import { nearest } from '../../../core/src/words/nearest.ts'
import { command } from '../arguments/command.ts'
import { SHELLS } from '../completion/complete.ts'
import { scriptOf } from '../completion/scripts.ts'
import { UsageError } from '../io/errors.ts'

export const completion = command({
  name: ['completion'],
  summary: 'Print the script with which a shell completes commands, options and names',
  description:
    'The names of keys, clusters, virtual clusters, trusts and providers are those that your key sees. The server is asked for them at most once in 30 seconds, and no TAB waits longer than 300 milliseconds: the next one has them. Without a server there are commands, options and contexts.',
  positionals: [{ name: 'SHELL', help: SHELLS.join(', ') }],
  options: {},
  examples: [
    { does: 'In bash, also in ~/.bashrc', run: 'source <(keyplane completion bash)' },
    { does: 'In zsh, after compinit, also in ~/.zshrc', run: 'source <(keyplane completion zsh)' },
    { does: 'In fish', run: 'keyplane completion fish | source' },
    { does: 'In PowerShell, also in $PROFILE', run: 'keyplane completion powershell | Out-String | Invoke-Expression' },
  ],
  local: true,
  async run({ positionals: [shell = ''] }, io) {
    const known = SHELLS.find((one) => one === shell)
    if (known === undefined) {
      const guess = nearest(shell, SHELLS)
      throw new UsageError(
        `The shell must be one of ${SHELLS.join(', ')}, not "${shell}"${guess === undefined ? '' : `: did you mean ${guess}?`}`,
      )
    }
    io.out(scriptOf(known))
  },
})
