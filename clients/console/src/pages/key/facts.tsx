import type { ComponentChildren } from 'preact'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { otherTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Time } from '../../components/time.tsx'
import { hrefOf } from '../../text/routes.ts'
import { scopeEntries } from '../../text/scopeentries.ts'
import { historyOf } from './history.ts'

/** Everything that the object says of the key. */
export function Facts({ accessKey }: { accessKey: AccessKey }) {
  const { metadata, spec, status = {} } = accessKey
  const { labels = {}, annotations = {} } = metadata
  return (
    <section class="card facts" aria-labelledby="facts">
      <h2 id="facts">About this key</h2>
      <dl>
        <Fact term="Owner">
          <Foreign text={status.owner ?? 'unknown'} />
        </Fact>
        {spec.groups && spec.groups.length > 0 && (
          <Fact term="Groups">
            <Texts texts={spec.groups} />
          </Fact>
        )}
        {spec.type && (
          <Fact term="Type">
            <Foreign text={spec.type} />
          </Fact>
        )}
        {otherTexts.map(({ name, title }) => {
          const text = spec[name]
          return text ? (
            <Fact term={title} key={name}>
              <LongText text={text} />
            </Fact>
          ) : null
        })}
        <Fact term="May do">
          <Scope scope={spec.scope} />
        </Fact>
        <Fact term="Expires">
          <Expiry accessKey={accessKey} />
        </Fact>
        <Fact term="Last used">
          {status.lastActivity ? <Time at={status.lastActivity} direction="past" isDated /> : 'never'}
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
        <Pairs term="Labels" pairs={labels} />
        <Pairs term="Annotations" pairs={annotations} />
        <Fact term="Dates">
          <ul>
            {historyOf(accessKey, new Date()).map(({ at, words }) => (
              <li key={words}>
                {words} <Time at={at} direction="past" isDated />
              </li>
            ))}
          </ul>
        </Fact>
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

const Texts = ({ texts }: { texts: readonly string[] }) => (
  <ul>
    {texts.map((text) => (
      <li key={text}>
        <Foreign text={text} />
      </li>
    ))}
  </ul>
)

/** More characters are shown only to whoever asks for them. */
const LONG = 500

function LongText({ text }: { text: string }) {
  if (text.length <= LONG) return <Foreign text={text} />
  return (
    <details>
      <summary>1 long text</summary>
      <Foreign text={text} />
    </details>
  )
}

function Pairs({ term, pairs }: { term: string; pairs: Record<string, string> }) {
  const entries = Object.entries(pairs)
  if (entries.length === 0) return null
  const list = (
    <ul>
      {entries.map(([name, value]) => (
        <li key={name}>
          <span class="muted">
            <Foreign text={name} />
          </span>
          : <Foreign text={value} />
        </li>
      ))}
    </ul>
  )
  const isLong = entries.flat().join('').length > LONG
  return (
    <Fact term={term}>
      {isLong ? (
        <details>
          <summary>{entries.length === 1 ? '1 long text' : `${entries.length} texts`}</summary>
          {list}
        </details>
      ) : (
        list
      )}
    </Fact>
  )
}

function Scope({ scope }: { scope: AccessKey['spec']['scope'] }) {
  const entries = scopeEntries(scope)
  return (
    <>
      <Foreign text={scopeWords(scope)} />
      {(entries.length > 1 || scope?.rules?.length) && (
        <details>
          <summary>Entry by entry</summary>
          <Texts texts={entries} />
        </details>
      )}
    </>
  )
}

function Expiry({ accessKey: { spec, status } }: { accessKey: AccessKey }) {
  if (!status?.expirationTimestamp) return <>never</>
  return (
    <>
      <Time at={status.expirationTimestamp} direction="future" isDated />
      {spec.ttlAfterLastActivity && status.phase !== 'Expired' && ' unless it is used before'}
    </>
  )
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
