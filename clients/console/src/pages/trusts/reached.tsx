import { REACH_WORDS, reachOf } from '../../../../core/src/reaches.ts'
import type { Trust } from '../../api/trusts.ts'
import { Foreign } from '../../components/foreign.tsx'
import { useClusters } from '../../components/scope/useclusters.ts'
import { hrefOf } from '../../text/routes.ts'

/** The connected clusters for which its keys may get tokens. */
export function Reached({ trust }: { trust: Trust }) {
  const { connected = [] } = useClusters().data ?? {}
  const reached = connected.flatMap((name) => {
    const reach = reachOf(trust, name)
    return reach === undefined ? [] : [{ name, why: REACH_WORDS[reach] }]
  })
  if (connected.length === 0) return null
  return (
    <div>
      <h3>Connected clusters that it reaches</h3>
      {reached.length === 0 && <p class="muted">None that you can see.</p>}
      <ul>
        {reached.map(({ name, why }) => (
          <li key={name}>
            <a href={hrefOf('clusters', [name])}>
              <Foreign text={name} />
            </a>{' '}
            <span class="muted">{why}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
