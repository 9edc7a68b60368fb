import { hrefOf } from '../../text/routes.ts'
import { type Question, queryOf, requestWords } from './question.ts'

const NONE: Omit<Question, 'key'> = { verb: '', resource: '', name: '', namespace: '', place: '', at: '', from: '' }

const EXAMPLES: readonly Omit<Question, 'key'>[] = [
  { ...NONE, verb: 'create', resource: 'ownedaccesskeys' },
  { ...NONE, verb: 'list', resource: 'virtualclusterinstances' },
  { ...NONE, verb: 'create', resource: 'virtualclusterinstances/kubeconfig', name: 'demo', namespace: 'p-demo' },
  { ...NONE, verb: 'list', resource: 'pods', namespace: 'default', place: 'virtual-cluster', at: 'demo/demo' },
  { ...NONE, verb: 'delete', resource: 'deployments.apps', namespace: 'web', place: 'cluster', at: 'west' },
  { ...NONE, verb: 'get', resource: '/metrics', place: 'cluster', at: 'west' },
]

/** Questions to click. */
export const Examples = ({ keyName }: { keyName: string }) => (
  <section class="examples">
    <h2>Examples</h2>
    <ul>
      {EXAMPLES.map((one) => (
        <li key={requestWords({ ...one, key: keyName })}>
          <a href={hrefOf('may-it', [], queryOf({ ...one, key: keyName }))}>{requestWords({ ...one, key: keyName })}</a>
        </li>
      ))}
    </ul>
  </section>
)
