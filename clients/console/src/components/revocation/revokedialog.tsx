import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type RevocationStatus, totalOf } from '../../../../core/src/objects.ts'
import { useSession } from '../../session/session.ts'
import { Dialog } from '../dialog.tsx'
import { Foreign, Paragraph } from '../foreign.tsx'
import { Check } from '../forms/check.tsx'
import { Form } from '../forms/form.tsx'
import { ReasonField } from '../forms/reasonfield.tsx'
import { useConfirmation } from '../forms/uselockout.tsx'
import { useChange } from '../hooks/usechange.ts'
import { ErrorNotice } from '../notice.tsx'
import { Time } from '../time.tsx'
import { type Action, type Choice, type Outcome, revoke, type Trial, tryRevocation } from './revocation.ts'
import type { Selection as Keys } from './selection.ts'

const ACTIONS: readonly [action: Action, words: string][] = [
  ['Disable', 'Disable them: they can be enabled again'],
  ['Delete', 'Delete them: this cannot be undone'],
]

const counted = (count: number, noun: string): string => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`)

/** Returns `2 keys`, or `2 keys and 1 trust` if these are revoked too. */
function allWords({ matched = 0, federatedIdentityCredentials: trusts }: RevocationStatus): string {
  const others = trusts?.matched ?? 0
  if (others === 0) return counted(matched, 'key')
  return [...(matched > 0 ? [counted(matched, 'key')] : []), counted(others, 'trust')].join(' and ')
}

export interface RevokeDialogProps {
  title: string
  /** Which keys are meant, in words. */
  about: string
  keys: Keys
  /** `isDone` says whether keys were revoked. */
  onClose(isDone?: boolean): void
}

/** What a dry run found. It is shown until the next one has ended, so that what has the focus stays. */
interface Tried extends Partial<Trial> {
  choice: Choice
  failure?: unknown
}

/** Revokes keys. Shows first which ones, and changes no more than it has shown. */
export function RevokeDialog({ title, about, keys, onClose }: RevokeDialogProps) {
  const { api } = useSession()
  const [asked, setAsked] = useState<Omit<Choice, 'keys'>>({ action: 'Disable', reason: '', trusts: false })
  const { action, reason, trusts } = asked
  const set = (part: Partial<typeof asked>) => setAsked((before) => ({ ...before, ...part }))
  const [tried, setTried] = useState<Tried>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isDone, setDone] = useState(false)
  const choice = useMemo((): Choice => ({ keys, action, reason: '', trusts }), [keys, action, trusts])
  useEffect(() => {
    let isWanted = true
    tryRevocation(api, choice).then(
      (trial) => isWanted && setTried({ choice, ...trial }),
      (failure: unknown) => isWanted && setTried({ choice, failure }),
    )
    return () => {
      isWanted = false
    }
  }, [api, choice])
  const { selected, lockout, failure } = tried ?? {}
  const confirmation = useConfirmation(lockout, title)
  const isCurrent = tried?.choice === choice
  const { matched } = totalOf((isCurrent && selected) || {})
  const { isBusy, error, run } = useChange(
    () => revoke(api, { keys, action, reason, trusts }, matched, outcome, setOutcome),
    () => setDone(true),
  )
  const close = () => onClose(outcome !== undefined)
  const word = action === 'Disable' ? 'Disabled' : 'Deleted'
  return (
    <Dialog title={title} onClose={close} isSticky={isBusy} isTyped={reason !== '' && !isDone} isWide>
      <p>
        <Foreign text={about} /> The key that you are signed in with stays as it is.
      </p>
      <Form
        class="stack"
        onSubmit={() => {
          if (confirmation.isGiven()) void run()
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
          {'madeWith' in keys && (
            <Check checked={trusts} onChange={(also) => set({ trusts: also })}>
              Also the trusts: otherwise they keep issuing keys
            </Check>
          )}
          {action === 'Disable' && <ReasonField value={reason} onInput={(text) => set({ reason: text })} />}
        </fieldset>
        {isCurrent && failure !== undefined && <ErrorNotice error={failure} />}
        {selected && !isDone && <Selection selected={selected} isBusy={!isCurrent} />}
        {!isDone && confirmation.asked}
        {outcome && (
          <p role="status">
            {word} {outcome.done} of {allWords(selected ?? {})}.{outcome.failed > 0 && ` ${outcome.failed} failed.`}
          </p>
        )}
        {outcome?.failures.map((one) => (
          <Paragraph text={`${one.name}: ${one.message}`} class="error" key={one.name} />
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
      </Form>
    </Dialog>
  )
}

function Selection({ selected, isBusy }: { selected: RevocationStatus; isBusy: boolean }) {
  const { matched = 0, byOwner = {}, keys = [], federatedIdentityCredentials: trusts } = selected
  const { items = [], matched: all = 0 } = trusts ?? {}
  const unlisted = all - items.length
  const none = trusts ? 'No key and no trust matches.' : 'No key matches.'
  if (totalOf(selected).matched === 0) return <p role="status">{none} There is nothing to revoke.</p>
  const owners = Object.entries(byOwner).map(([owner, count]) => `${owner} (${count})`)
  return (
    <>
      <p role="status">
        {matched === 0 ? 'No key matches.' : matched === 1 ? 'This key matches.' : `These ${matched} keys match.`}
        {matched > 0 && [' Owners: ', <Foreign text={owners.join(', ')} key="owners" />, '.']}
        {trusts && ` ${counted(trusts.matched ?? 0, 'trust')} ${trusts.matched === 1 ? 'matches' : 'match'}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard. */}
      <section class="selection" tabIndex={0} aria-label="What matches" aria-busy={isBusy}>
        <ul>
          {keys.map(({ name = '', displayName, lastActivity }) => (
            <Matched name={name} key={name}>
              {displayName && <Foreign text={displayName} />} {lastActivity ? 'used ' : 'never used'}
              {lastActivity && <Time at={lastActivity} direction="past" />}
            </Matched>
          ))}
          {matched > keys.length && <li class="muted">and {matched - keys.length} more</li>}
          {items.map(({ name = '', owner = '', displayName = '' }) => (
            <Matched name={name} key={`trust ${name}`}>
              trust of <Foreign text={[owner, displayName].filter(Boolean).join(' · ')} />
            </Matched>
          ))}
          {unlisted > 0 && <li class="muted">and {counted(unlisted, 'trust')} more</li>}
        </ul>
      </section>
    </>
  )
}

const Matched = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <li>
    <Foreign text={name} /> <span class="muted">{children}</span>
  </li>
)
