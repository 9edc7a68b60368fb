import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import type { KeyUsage } from '../../../../../core/src/usage.ts'
import { Code } from '../../../components/code.tsx'
import { Foreign } from '../../../components/foreign.tsx'
import { Terminal } from '../../../components/terminal.tsx'
import { toYaml } from '../../../text/yaml.ts'
import { mayWords } from '../actions/difference.ts'
import { StepButton } from './formerscope.tsx'

export interface AdviceCardProps {
  accessKey: AccessKey
  usage: KeyUsage
  refresh(): Promise<void>
}

/** Says what could be better about the key, and offers a smaller scope. */
export function AdviceCard({ accessKey, usage: { advice = {}, findings = [] }, refresh }: AdviceCardProps) {
  const { scope, unknowns = [] } = advice
  return (
    <section class="card" aria-labelledby="advice">
      <h2 id="advice">Advice</h2>
      {findings.length > 0 && <Sentences of={findings} />}
      {scope ? (
        <Smaller accessKey={accessKey} scope={scope} advice={advice} refresh={refresh} />
      ) : (
        <p>
          {unknowns.some(({ withholds }) => withholds)
            ? 'No smaller scope is advised, because not enough is known:'
            : 'No smaller scope would allow everything that the key did.'}
        </p>
      )}
      {unknowns.length > 0 && (
        <>
          {scope && <h3>What is not known</h3>}
          <Sentences of={unknowns} />
        </>
      )}
    </section>
  )
}

const Sentences = ({ of }: { of: readonly { message: string }[] }) => (
  <ul class="bullets">
    {of.map(({ message }) => (
      <li key={message}>
        <Foreign text={message} />
      </li>
    ))}
  </ul>
)

interface SmallerProps {
  accessKey: AccessKey
  scope: Scope
  advice: NonNullable<KeyUsage['advice']>
  refresh(): Promise<void>
}

function Smaller({ accessKey, scope, advice: { removed = [], added = [] }, refresh }: SmallerProps) {
  const { name } = accessKey.metadata
  return (
    <>
      <p>With a smaller scope, all recorded requests of the key stay allowed.</p>
      <p>
        Now: may <Foreign text={mayWords(accessKey.spec.scope)} />.
      </p>
      <p>
        After: may <Foreign text={mayWords(scope)} />.
      </p>
      <ul class="diff" aria-label="The change of the scope">
        {removed.map((line) => (
          <li class="removed" key={line}>
            <span aria-hidden="true">−</span>
            <span class="hidden">removed: </span>
            <Foreign text={line} />
          </li>
        ))}
        {added.map((line) => (
          <li class="added" key={line}>
            <span aria-hidden="true">+</span>
            <span class="hidden">added: </span>
            <Foreign text={line} />
          </li>
        ))}
      </ul>
      <StepButton accessKey={accessKey} advised={scope} step="apply" word="Use the smaller scope" refresh={refresh} />
      <details>
        <summary>YAML</summary>
        <Code title="The smaller scope" text={toYaml({ spec: { scope } })} />
      </details>
      <Terminal
        commands={[
          { title: 'Use the smaller scope', text: `keyplane advise ${name} --apply` },
          { title: 'Put the former scope back', text: `keyplane advise ${name} --undo` },
        ]}
      />
    </>
  )
}
