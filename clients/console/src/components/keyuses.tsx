import { Fragment } from 'preact'
import { server } from '../api/root.ts'
import { keySnippets } from '../text/keysnippets.ts'
import { option } from '../text/kubectl.ts'
import { Code } from './code.tsx'

const HINTS: Readonly<Record<string, string>> = {
  'GitHub Actions':
    'OWNER is the account that has your copy of keyplane, COMMIT the hash of the commit that you have reviewed.',
  'GitLab CI': 'Store the value as the variable KEYPLANE_KEY of the project: masked, hidden and protected.',
  curl: 'Save the value as keyplane.key, a file that only you can read.',
  kubectl: 'Save this as a kube config beside keyplane.key, the file with the value.',
  Terraform: 'Terraform reads the value from the environment: TF_VAR_access_key.',
}

/** Shows where the value of a key belongs, and how programs use it from there. */
export const KeyUses = ({ name }: { name: string }) => (
  <div class="uses">
    <h3>Where it belongs</h3>
    <p>Each of these programs asks for the value, so it stays out of commands and the shell history:</p>
    <Code title="Secret of a GitHub repository" text="gh secret set KEYPLANE_KEY" />
    <Code title="Command line" text={`keyplane login ${option('--context', name)} ${server}`} />
    <details>
      <summary>How programs use it</summary>
      {keySnippets(server).map(({ title, text }) => (
        <Fragment key={title}>
          <Code title={title} text={text} />
          <p class="hint">{HINTS[title]}</p>
        </Fragment>
      ))}
    </details>
  </div>
)
