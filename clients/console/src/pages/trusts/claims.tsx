import type { Provider } from '../../api/trusts.ts'
import { Fact } from '../../components/fact.tsx'
import { Foreign } from '../../components/foreign.tsx'
import type { ClaimEntry } from '../../text/claims.ts'
import { lifetimeWords } from '../../text/lifetime.ts'

/** All claims with all their values, exactly. */
export const Claims = ({ entries }: { entries: readonly ClaimEntry[] }) => (
  <dl class="facts-list claims">
    {entries.map(({ claim, values = [], patterns = [] }) => (
      <div key={claim}>
        <dt>
          <Foreign text={claim} />
        </dt>
        <dd>
          {[...values.map((one) => ['', one] as const), ...patterns.map((one) => ['like ', one] as const)].map(
            ([how, text]) => (
              <span key={how + text}>
                {how}
                <code>
                  <Foreign text={text} />
                </code>
              </span>
            ),
          )}
        </dd>
      </div>
    ))}
  </dl>
)

/** What the provider demands of every ID token. */
export const Conditions = ({ provider: { spec, status } }: { provider: Provider }) => (
  <>
    <dl class="facts-list">
      <Fact name="Issuer" text={spec.issuer} />
      <Fact name="Audience" text={status?.audience ?? ''} />
      <Fact name="Use" text={status?.tokenUse === 'Lifetime' ? 'again until it expires' : 'once'} />
      {spec.maxTokenAge !== undefined && <Fact name="Age" text={`at most ${lifetimeWords(spec.maxTokenAge)}`} />}
    </dl>
    {spec.claims && <Claims entries={spec.claims} />}
  </>
)
