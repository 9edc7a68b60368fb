import { useEffect, useState } from 'preact/hooks'
import { type RevocationStatus, totalOf } from '../../../../../core/src/objects.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { Foreign } from '../../../components/foreign.tsx'
import { Field } from '../../../components/forms/field.tsx'
import { KeptNotice } from '../../../components/forms/keptnotice.tsx'
import { useChange } from '../../../components/hooks/usechange.ts'
import { ErrorNotice } from '../../../components/notice.tsx'
import { Time } from '../../../components/time.tsx'
import { useSession } from '../../../session/session.ts'
import { useDraft } from '../../../session/usedraft.ts'
import { type Action, type Choice, type Outcome, revocationName, revoke, tryRevocation } from './revocation.ts'

const ACTIONS: readonly [action: Action, words: string][] = [
  ['Disable', 'Disable them: they can be enabled again'],
  ['Delete', 'Delete them: this cannot be undone'],
]

const NOTHING = { action: 'Disable', reason: '', trusts: false } as const

const keysWords = (count: number): string => (count === 1 ? '1 key' : `${count} keys`)
const trustsWords = (count: number): string => (count === 1 ? '1 trust' : `${count} trusts`)

/** Returns `2 keys`, or `2 keys and 1 trust` if these are revoked too. */
function allWords({ matched = 0, federatedIdentityCredentials: trusts }: RevocationStatus): string {
  const others = trusts?.matched ?? 0
  if (others === 0) return keysWords(matched)
  return [...(matched > 0 ? [keysWords(matched)] : []), trustsWords(others)].join(' and ')
}

/** Revokes all that a key made. Shows first what that is, and changes no more than it has shown. */
export function RevokeDialog({ name, uid, onClose }: { name: string; uid: string; onClose(): void }) {
  const { api } = useSession()
  const { draft, change, ...kept } = useDraft(revocationName(uid), (): Omit<Choice, 'uid'> => NOTHING)
  const { action, reason, trusts } = draft
  const set = (part: Partial<typeof draft>) => change((before) => ({ ...before, ...part }))
  const [selected, setSelected] = useState<RevocationStatus>()
  const [failure, setFailure] = useState<unknown>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    let isCurrent = true
    setSelected(undefined)
    setFailure(undefined)
    tryRevocation(api, { uid, action, reason: '', trusts }).then(
      (answer) => isCurrent && setSelected(answer),
      (error: unknown) => isCurrent && setFailure(error),
    )
    return () => {
      isCurrent = false
    }
  }, [api, uid, action, trusts])
  const { matched } = totalOf(selected ?? {})
  const { isBusy, error, run } = useChange(
    () => revoke(api, { uid, action, reason, trusts }, matched, outcome, setOutcome),
    () => {
      kept.forget()
      setDone(true)
    },
  )
  const close = () => {
    kept.forget()
    onClose()
  }
  const word = action === 'Disable' ? 'Disabled' : 'Deleted'
  return (
    <Dialog
      title={`Revoke all that ${name} made`}
      onClose={close}
      isSticky={isBusy}
      isTyped={reason !== '' && !isDone}
      isWide
    >
      <KeptNotice {...kept} />
      <p>
        The keys that it made, and what those made. {name} itself stays as it is, and so does the key that you are
        signed in with.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <fieldset disabled={isBusy || outcome !== undefined}>
          <legend>What to do</legend>
          {ACTIONS.map(([one, words]) => (
            <label class="check" key={one}>
              <input type="radio" name="action" checked={action === one} onChange={() => set({ action: one })} />
              {words}
            </label>
          ))}
          <label class="check">
            <input
              type="checkbox"
              checked={trusts}
              onChange={(event) => set({ trusts: event.currentTarget.checked })}
            />
            Also the trusts: otherwise they keep issuing keys
          </label>
          {action === 'Disable' && (
            <Field label="Reason" hint="Everybody who may read these keys sees it.">
              {(attributes) => (
                <input
                  {...attributes}
                  value={reason}
                  maxLength={256}
                  onInput={(event) => set({ reason: event.currentTarget.value })}
                />
              )}
            </Field>
          )}
        </fieldset>
        {failure !== undefined && <ErrorNotice error={failure} />}
        {selected && !isDone && <Selection selected={selected} />}
        {outcome && (
          <p role="status">
            {word} {outcome.done} of {allWords(selected ?? {})}.{outcome.failed > 0 && ` ${outcome.failed} failed.`}
          </p>
        )}
        {outcome?.failures.map((one) => (
          <p class="error" key={one.name}>
            <Foreign text={`${one.name}: ${one.message}`} />
          </p>
        ))}
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="actions">
          <button type="button" disabled={isBusy} onClick={close}>
            {isDone ? 'Close' : 'Cancel'}
          </button>
          {!isDone && (
            <button type="submit" class="danger" disabled={isBusy || matched === 0}>
              {isBusy ? 'Working…' : error ? 'Continue' : `${action} ${allWords(selected ?? {})}`}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function Selection({ selected }: { selected: RevocationStatus }) {
  const { matched = 0, byOwner = {}, keys = [], federatedIdentityCredentials: trusts } = selected
  if (totalOf(selected).matched === 0) return <p role="status">{noneWords(selected)} There is nothing to revoke.</p>
  const owners = Object.entries(byOwner).map(([owner, count]) => `${owner} (${count})`)
  return (
    <>
      <p role="status">
        {matched === 0 ? (
          'No key matches.'
        ) : (
          <>
            {matched === 1 ? 'This key matches' : `These ${matched} keys match`}. Owners:{' '}
            <Foreign text={owners.join(', ')} />.
          </>
        )}
        {trusts && ` ${trustsWords(trusts.matched ?? 0)} ${trusts.matched === 1 ? 'matches' : 'match'}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard. */}
      <section class="selection" tabIndex={0} aria-label="What matches">
        <ul>
          {keys.map(({ name = '', displayName, lastActivity }) => (
            <li key={name}>
              <Foreign text={name} />{' '}
              <span class="muted">
                {displayName && <Foreign text={displayName} />}{' '}
                {lastActivity ? (
                  <>
                    used <Time at={lastActivity} direction="past" />
                  </>
                ) : (
                  'never used'
                )}
              </span>
            </li>
          ))}
          {matched > keys.length && <li class="muted">and {matched - keys.length} more</li>}
        </ul>
        {trusts && <Trusts trusts={trusts} />}
      </section>
    </>
  )
}

const noneWords = ({ federatedIdentityCredentials: trusts }: RevocationStatus): string =>
  trusts ? 'No key and no trust matches.' : 'No key matches.'

function Trusts({
  trusts: { matched = 0, items = [] },
}: {
  trusts: NonNullable<RevocationStatus['federatedIdentityCredentials']>
}) {
  return (
    <ul>
      {items.map(({ name = '', owner = '', displayName = '' }) => (
        <li key={name}>
          <Foreign text={name} />{' '}
          <span class="muted">
            trust of <Foreign text={[owner, displayName].filter(Boolean).join(' · ')} />
          </span>
        </li>
      ))}
      {matched > items.length && <li class="muted">and {trustsWords(matched - items.length)} more</li>}
    </ul>
  )
}
