import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { MINUTE_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { createApi } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { apiRoot } from '../../api/root.ts'
import { isUncertain } from '../../api/status.ts'
import { useLeaveWarning } from '../../components/hooks/useleavewarning.ts'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { InPlace, part } from '../../components/part.tsx'
import type { Problem } from '../../components/scope/scoperows.ts'
import { useNotify } from '../../session/notices.ts'
import { useReveal } from '../../session/revealed.ts'
import { useSession } from '../../session/session.ts'
import { usePolled } from '../../session/usepolled.ts'
import { hrefOf } from '../../text/routes.ts'
import { type Attempt, checkKey, createKey, newAttempt } from './createkey.ts'
import { Fields } from './fields.tsx'
import { type Form, keyOf } from './form.ts'
import { problemsOf, refusedFields } from './validate.ts'

const preview = part(async () => (await import('./preview.tsx')).Preview)

/** What the last request came to. */
type Outcome = { kind: 'accepted' } | { kind: 'refused'; error: unknown } | { kind: 'lost'; attempt: Attempt }

export interface NewKeyFormProps {
  /** What the form has before the person types. */
  first: Form
  /** What precedes the fields. */
  children?: ComponentChildren
}

/** The form of a new key, and beside it what the key means. */
export function NewKeyForm({ first, children }: NewKeyFormProps) {
  const { api, self, cache } = useSession()
  const reveal = useReveal()
  const notify = useNotify()
  // The preview says less without it.
  const { data: own } = usePolled<AccessKey>(
    `key/${self.accessKey}`,
    ({ api }, signal) => api.send(paths.key(self.accessKey), { signal }),
    MINUTE_MS,
  )
  const frame = useRef<HTMLFormElement>(null)
  const [form, setForm] = useState(first)
  const [isSubmitted, setSubmitted] = useState(false)
  const [refused, setRefused] = useState<readonly Problem[]>([])
  const [outcome, setOutcome] = useState<Outcome>()
  const [busy, setBusy] = useState<'check' | 'create'>()
  const isSending = useRef(false)
  const isLeft = useRef(false)
  useEffect(
    () => () => {
      isLeft.current = true
    },
    [],
  )
  /** Grows when the first wrong field shall take the focus. */
  const [faults, setFaults] = useState(0)

  const found = problemsOf(form)
  const shown = isSubmitted ? [...found, ...refused] : []
  const problem = (field: string) => shown.find((one) => one.field === field)?.text

  useEffect(() => {
    if (faults > 0) frame.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [faults])
  const isLost = outcome?.kind === 'lost'
  useLeaveWarning(isLost)

  const change = (changes: Partial<Form>) => {
    setForm((before) => ({ ...before, ...changes }))
    setOutcome(undefined)
    setRefused([])
  }
  /** Sends a request, unless one is under way: a double click makes one key. */
  const once = async (what: 'check' | 'create', send: () => Promise<void>) => {
    if (isSending.current) return
    isSending.current = true
    setBusy(what)
    setOutcome(undefined)
    setRefused([])
    try {
      await send()
    } catch (error) {
      const problems = refusedFields(error, form)
      setRefused(problems)
      if (problems.length > 0) setFaults((count) => count + 1)
      else setOutcome({ kind: 'refused', error })
    } finally {
      isSending.current = false
      setBusy(undefined)
    }
  }
  const isReady = (): boolean => {
    setSubmitted(true)
    if (found.length > 0) setFaults((count) => count + 1)
    return found.length === 0
  }
  const create = (attempt: Attempt) =>
    once('create', async () => {
      try {
        await createKey(api, attempt, (key) => createApi({ root: apiRoot, key }))
      } catch (error) {
        if (!isUncertain(error)) throw error
        setOutcome({ kind: 'lost', attempt: { ...attempt, isRepeated: true } })
        // The page that would say so may be gone, and the value with it.
        if (isLeft.current) notify({ tone: 'warn', text: lostWords(attempt.name) })
        return
      }
      const { name, value } = attempt
      cache.delete('keys')
      reveal({
        title: `The value of ${name}`,
        name,
        value,
        explanation: 'Store it now: the server keeps no copy.',
        next: hrefOf('keys', [name]),
      })
    })
  const check = () =>
    once('check', async () => {
      await checkKey(api, keyOf(form))
      setOutcome({ kind: 'accepted' })
    })
  const submit = (event: Event) => {
    event.preventDefault()
    if (!isLost && isReady()) void create(newAttempt(keyOf(form)))
  }

  const object = keyOf(form)
  return (
    <form class="halves newkey" ref={frame} noValidate onSubmit={submit}>
      <div class="stack">
        {children}
        <fieldset disabled={isLost || busy === 'create'} class="card stack">
          <Fields form={form} self={self} problem={problem} onChange={change} />
        </fieldset>
        {shown.length > 0 && (
          <Notice
            tone="bad"
            title={shown.length === 1 ? 'A field needs attention.' : `${shown.length} fields need attention.`}
          >
            {[...new Set(shown.map(({ text }) => text))].map((text) => (
              <p key={text}>{text}</p>
            ))}
          </Notice>
        )}
        {outcome?.kind === 'refused' && <ErrorNotice error={outcome.error} />}
        {outcome?.kind === 'accepted' && <Notice tone="good" title="The server would create this key." />}
        {outcome?.kind === 'lost' ? (
          <Lost
            name={outcome.attempt.name}
            again={() => void create(outcome.attempt)}
            restart={() => setOutcome(undefined)}
          />
        ) : (
          <div class="actions">
            <button type="submit" class="primary" aria-disabled={busy !== undefined}>
              {busy === 'create' ? 'Creating…' : 'Create the key'}
            </button>
            <button type="button" aria-disabled={busy !== undefined} onClick={() => void (isReady() && check())}>
              {busy === 'check' ? 'Checking…' : 'Check'}
            </button>
          </div>
        )}
      </div>
      <InPlace of={preview} what="What the key means" object={object} ownSources={own?.spec.sourceCIDRs} />
    </form>
  )
}

const lostWords = (name: string): string =>
  `No answer came. The key ${name} may exist, but its value is lost. Look for it in the keys, and delete it.`

function Lost({ name, again, restart }: { name: string; again(): void; restart(): void }) {
  return (
    <Notice tone="warn" title="No answer came. The key may exist.">
      <p>
        Send the same request again: it has the same name, <code>{name}</code>, and the same value, so it never makes a
        second key.
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={again}>
          Send it again
        </button>
        <button type="button" onClick={restart}>
          Change the form
        </button>
      </div>
      <p class="hint">
        If you change or leave this form, the value is forgotten. Then look for {name} in{' '}
        <a href={hrefOf('keys')}>the keys</a>, and delete it.
      </p>
    </Notice>
  )
}
