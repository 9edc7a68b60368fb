import { Code } from '../../../components/code.tsx'
import { shellWord } from '../../../text/kubectl.ts'

/** Command lines that store the value. Each asks for it or reads it from a file: it is part of no command line. */
export const StoreCommands = ({ name }: { name: string }) => (
  <>
    <p>
      Store the value <strong>before</strong> anything uses it. These commands ask for it, so it stays out of the shell
      history. End the input of the second and third command with Ctrl-D.
    </p>
    <Code
      title="Commands"
      text={[
        'gh secret set KEYPLANE_KEY --repo OWNER/REPOSITORY',
        `aws secretsmanager put-secret-value --secret-id ${shellWord(name)} --secret-string file:///dev/stdin`,
        `kubectl create secret generic ${shellWord(name)} --from-file=key=/dev/stdin --dry-run=client -o yaml | kubectl apply -f -`,
      ].join('\n')}
    />
  </>
)
