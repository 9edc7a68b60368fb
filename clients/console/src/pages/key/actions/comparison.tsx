import type { Scope } from '../../../../../core/src/objects.ts'
import { Code } from '../../../components/code.tsx'
import { Foreign } from '../../../components/foreign.tsx'
import { toYaml } from '../../../text/yaml.ts'
import { differenceOf, mayWords } from './difference.ts'

/** Says what a key may do now and afterwards, and what it gains and loses. */
export function Comparison({ before, after }: { before: Scope | undefined; after: Scope | undefined }) {
  const { gained, lost } = differenceOf(before, after)
  return (
    <section class="comparison" aria-label="What changes">
      <p>
        Now: may <Foreign text={mayWords(before)} />.
      </p>
      <p role="status">
        After: may <Foreign text={mayWords(after)} />.
      </p>
      <Lines title="Gains" lines={gained} />
      <Lines title="Loses" lines={lost} />
      <details>
        <summary>YAML</summary>
        <Code title="The scope afterwards" text={after ? toYaml({ scope: after }) : '# no scope\n'} />
      </details>
    </section>
  )
}

const Lines = ({ title, lines }: { title: string; lines: readonly string[] }) => (
  <div>
    <h3>{title}</h3>
    {lines.length === 0 ? (
      <p class="muted">nothing</p>
    ) : (
      <ul class="bullets">
        {lines.map((line) => (
          <li key={line}>
            <Foreign text={line} />
          </li>
        ))}
      </ul>
    )}
  </div>
)
