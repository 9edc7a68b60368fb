import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { DISABLED_REASON, otherTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey, KeyValue } from '../../../../core/src/objects.ts'
import { isActive } from '../../api/keyfacts.ts'
import { Fact } from '../../components/fact.tsx'
import { Foreign, NameLink } from '../../components/foreign.tsx'
import { Time, When } from '../../components/time.tsx'
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
        <TextFact name="Groups" texts={spec.groups} />
        <TextFact name="Type" texts={[spec.type]} />
        {otherTexts.map(({ name, title }) => (
          <TextFact name={title} texts={[spec[name]]} key={name} />
        ))}
        <TextFact name="May do" texts={entries.length === 0 ? [scopeWords(spec.scope)] : entries} />
        {status.lastSources && status.lastSources.length > 0 && (
          <Fact name="Used from">
            <ul>
              {status.lastSources.map(({ ip, userAgent, lastSeen }) => (
                <li key={ip}>
                  <Foreign text={ip} />, <Time at={lastSeen} direction="past" />
                  {userAgent && <Foreign text={userAgent} class="muted block" />}
                </li>
              ))}
            </ul>
          </Fact>
        )}
        <TextFact name="May be used from" texts={spec.sourceCIDRs?.length ? spec.sourceCIDRs : ['everywhere']} />
        {status.madeWith && (
          <Fact name="Made by">
            <Maker {...status.madeWith} />
          </Fact>
        )}
        <TextFact name="Labels" texts={Object.entries(metadata.labels ?? {})} />
        <TextFact
          name="Annotations"
          texts={Object.entries(metadata.annotations ?? {}).filter(([name]) => name !== DISABLED_REASON)}
        />
        <Fact name="Created">
          <Time at={metadata.creationTimestamp} direction="past" isDated />
        </Fact>
        {status.values && status.values.length > 0 && (
          <Fact name="Values">
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

/** A text, behind its name if it has one. */
type Text = string | readonly [name: string, value: string]

/** A fact of some texts, unless there are none. */
function TextFact({ name, texts = [] }: { name: string; texts: readonly (Text | undefined)[] | undefined }) {
  const some = texts.filter((one) => one !== undefined && one !== '') as Text[]
  if (some.length === 0) return null
  return (
    <Fact name={name}>
      <Texts texts={some} />
    </Fact>
  )
}

/** More characters are shown only to whoever asks for them. */
const LONG = 500

function Texts({ texts }: { texts: readonly Text[] }) {
  const list = (
    <ul>
      {texts.map((one) => (
        <li key={String(one)}>
          {typeof one !== 'string' && (
            <>
              <Foreign text={one[0]} class="muted" />
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
const Value = ({ value, isActive }: { value: KeyValue; isActive: boolean }) => (
  <>
    {value.hint && (
      <code>
        …<Foreign text={value.hint} />
      </code>
    )}{' '}
    {isActive ? (STATES[value.state] ?? value.state) : 'does not work'}
    <When words="made" at={value.made} />
    {value.lastActivity ? <When words="last used" at={value.lastActivity} /> : ', not used yet'}
    <When words="ends" at={value.until} direction="future" />
  </>
)

/** Links to the list of all keys that the maker made. Another key may have its name by now. */
function Maker({ name, uid }: { name?: string; uid: string }) {
  if (name === undefined) return <Foreign text={uid} />
  return <NameLink href={hrefOf('keys', [], { filter: `maker:${name}` })} text={name} />
}
