import type { ComponentChildren } from 'preact'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { otherTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey, KeyValue } from '../../../../core/src/objects.ts'
import { isActive } from '../../api/keyfacts.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Time } from '../../components/time.tsx'
import { hrefOf } from '../../text/routes.ts'
import { scopeEntries } from '../../text/scopeentries.ts'

/** What the object says of the key besides the line at the top. */
export function Facts({ accessKey }: { accessKey: AccessKey }) {
  const { metadata, spec, status = {} } = accessKey
  const entries = scopeEntries(spec.scope)
  return (
    <section class="card facts" aria-labelledby="facts">
      <h2 id="facts">About this key</h2>
      <dl>
        {spec.groups && spec.groups.length > 0 && (
          <Fact term="Groups">
            <Texts texts={spec.groups} />
          </Fact>
        )}
        {spec.type && (
          <Fact term="Type">
            <Texts texts={[spec.type]} />
          </Fact>
        )}
        {otherTexts.map(({ name, title }) => {
          const text = spec[name]
          return text ? (
            <Fact term={title} key={name}>
              <Texts texts={[text]} />
            </Fact>
          ) : null
        })}
        <Fact term="May do">
          <Texts texts={entries.length === 0 ? [scopeWords(spec.scope)] : entries} />
        </Fact>
        {status.lastSources && status.lastSources.length > 0 && (
          <Fact term="Used from">
            <ul>
              {status.lastSources.map(({ ip, userAgent, lastSeen }) => (
                <li key={ip}>
                  <Foreign text={ip} />, <Time at={lastSeen} direction="past" />
                  {userAgent && (
                    <span class="muted block">
                      <Foreign text={userAgent} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </Fact>
        )}
        <Fact term="May be used from">
          {spec.sourceCIDRs?.length ? <Texts texts={spec.sourceCIDRs} /> : 'everywhere'}
        </Fact>
        {status.madeWith && (
          <Fact term="Made by">
            <Maker {...status.madeWith} />
          </Fact>
        )}
        {Object.entries({ Labels: metadata.labels, Annotations: metadata.annotations }).map(
          ([term, pairs = {}]) =>
            Object.keys(pairs).length > 0 && (
              <Fact term={term} key={term}>
                <Texts texts={Object.entries(pairs)} />
              </Fact>
            ),
        )}
        <Fact term="Created">
          <Time at={metadata.creationTimestamp} direction="past" isDated />
        </Fact>
        {status.values && status.values.length > 0 && (
          <Fact term="Values">
            <ul>
              {status.values.map((value) => (
                <li key={value.state}>
                  <Value value={value} isActive={isActive(accessKey)} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
    </section>
  )
}

const Fact = ({ term, children }: { term: string; children: ComponentChildren }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
)

/** More characters are shown only to whoever asks for them. */
const LONG = 500

/** Shows texts, each behind its name if it has one. */
function Texts({ texts }: { texts: readonly (string | readonly [name: string, value: string])[] }) {
  const list = (
    <ul>
      {texts.map((one) => (
        <li key={String(one)}>
          {typeof one !== 'string' && (
            <>
              <span class="muted">
                <Foreign text={one[0]} />
              </span>
              {': '}
            </>
          )}
          <Foreign text={typeof one === 'string' ? one : one[1]} />
        </li>
      ))}
    </ul>
  )
  if (texts.flat().join('').length <= LONG) return list
  return (
    <details>
      <summary>{texts.length === 1 ? '1 long text' : `${texts.length} texts`}</summary>
      {list}
    </details>
  )
}

const STATES: Readonly<Record<string, string>> = {
  Current: 'works',
  Pending: 'works, and replaces the other one at its first use',
  Retiring: 'works until it ends',
}

/** Says what is known of a value, which only its holders know. */
const Value = ({ value: { state, hint, made, lastActivity, until }, isActive }: ValueProps) => (
  <>
    {hint && (
      <code>
        …<Foreign text={hint} />
      </code>
    )}{' '}
    {isActive ? (STATES[state] ?? state) : 'does not work'}
    {made && (
      <>
        , made <Time at={made} direction="past" isDated />
      </>
    )}
    {lastActivity ? (
      <>
        , last used <Time at={lastActivity} direction="past" isDated />
      </>
    ) : (
      ', not used yet'
    )}
    {until && (
      <>
        , ends <Time at={until} direction="future" isDated />
      </>
    )}
  </>
)

interface ValueProps {
  value: KeyValue
  isActive: boolean
}

/** Links to the list of all keys that the maker made. Another key may have its name by now. */
function Maker({ name, uid }: { name?: string; uid: string }) {
  if (name === undefined) return <Foreign text={uid} />
  return (
    <a href={hrefOf('keys', [], { filter: `maker:${name}` })}>
      <Foreign text={name} />
    </a>
  )
}
