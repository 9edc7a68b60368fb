import { useState } from 'preact/hooks'
import { Code } from '../../components/code.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useNow } from '../../components/hooks/usenow.ts'
import { useSession } from '../../session/session.ts'
import { keyplaneCommand, kubectlCommand, yamlOf } from './commands.ts'
import type { NewKey } from './form.ts'
import { type SentenceContext, sentencesOf } from './sentence.ts'

const FORMS = ['YAML', 'kubectl', 'keyplane'] as const

/** What the form means: in a sentence, as YAML, and as commands that create the same key. */
export function Preview({ object, ownSources }: { object: NewKey } & Pick<SentenceContext, 'ownSources'>) {
  const { self } = useSession()
  const now = useNow()
  const [form, setForm] = useState<(typeof FORMS)[number]>('YAML')
  const text = form === 'YAML' ? yamlOf(object) : form === 'kubectl' ? kubectlCommand(object) : keyplaneCommand(object)
  return (
    <aside class="preview" aria-label="What this key is">
      <section class="card">
        <h2>In a sentence</h2>
        <p class="sentence">
          <Foreign text={sentencesOf(object, { self, now, ownSources }).join(' ')} />
        </p>
      </section>
      <fieldset class="segments">
        <legend class="hidden">The same as</legend>
        {FORMS.map((one) => (
          <label key={one}>
            <input type="radio" name="form" checked={form === one} onChange={() => setForm(one)} />
            <span>{one}</span>
          </label>
        ))}
      </fieldset>
      {text === undefined ? (
        <p class="hint">The options of keyplane cannot say this. Use kubectl.</p>
      ) : (
        <Code title={form === 'YAML' ? 'OwnedAccessKey' : `Create it with ${form}`} text={text} />
      )}
    </aside>
  )
}
