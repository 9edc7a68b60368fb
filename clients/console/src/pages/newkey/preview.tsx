import { Code } from '../../components/code.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useNow } from '../../components/hooks/usenow.ts'
import { useSession } from '../../session/session.ts'
import { toYaml } from '../../text/yaml.ts'
import type { NewKey } from './form.ts'
import { type SentenceContext, sentencesOf } from './sentence.ts'

/** What the form means: in a sentence, and as YAML. */
export function Preview({ object, ownSources }: { object: NewKey } & Pick<SentenceContext, 'ownSources'>) {
  const { self } = useSession()
  const now = useNow()
  return (
    <aside class="stack beside" aria-label="What this key is">
      <section class="card">
        <h2>In a sentence</h2>
        <p class="sentence">
          <Foreign text={sentencesOf(object, { self, now, ownSources }).join(' ')} />
        </p>
      </section>
      <Code title="OwnedAccessKey" text={toYaml(object)} />
      <p class="hint">
        <code>kubectl create -o yaml -f</code> with this file makes the same key. Only its answer has the value.
      </p>
    </aside>
  )
}
