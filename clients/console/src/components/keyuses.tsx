import { server } from '../api/root.ts'
import { option } from '../text/kubectl.ts'
import { Code } from './code.tsx'
import { DocumentationLink } from './documentationlink.tsx'

/** Shows where the value of a key belongs. */
export const KeyUses = ({ name }: { name: string }) => (
  <div class="stack">
    <h3>Where it belongs</h3>
    <p>Each of these programs asks for the value, so it stays out of commands and the shell history:</p>
    <Code title="Secret of a GitHub repository" text="gh secret set KEYPLANE_KEY" />
    <Code title="Command line" text={`keyplane login ${option('--context', name)} ${server}`} />
    <p class="hint">
      How programs use it from there: <DocumentationLink page="ci" />, <DocumentationLink page="clients" />.
    </p>
  </div>
)
