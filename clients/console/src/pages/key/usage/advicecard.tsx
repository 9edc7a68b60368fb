import type { KeyUsage } from '../../../../../core/src/usage.ts'
import type { KeyProps } from '../actions/actionprops.ts'
import { Comparison } from '../actions/comparison.tsx'
import { ScopeButton } from '../actions/scopebutton.tsx'
import { Bullets } from './bullets.tsx'

const SMALLER =
  'All recorded requests of the key stay allowed. The record may not include rare ones, such as those of once a month. You can put the former scope back for 30 days.'

/** Says what could be better about the key, and offers a smaller scope. */
export function AdviceCard({ usage: { advice = {}, findings = [] }, ...key }: KeyProps & { usage: KeyUsage }) {
  const { scope, unknowns = [] } = advice
  return (
    <section class="card" aria-labelledby="advice">
      <h2 id="advice">Advice</h2>
      {findings.length > 0 && <Bullets texts={findings.map(({ message }) => message)} />}
      {scope ? (
        <>
          <p>With a smaller scope, all recorded requests of the key stay allowed.</p>
          <Comparison before={key.accessKey.spec.scope} after={scope} />
          <ScopeButton word="Use the smaller scope" suggested={{ scope, about: SMALLER }} {...key} />
        </>
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
          <Bullets texts={unknowns.map(({ message }) => message)} />
        </>
      )}
    </section>
  )
}
