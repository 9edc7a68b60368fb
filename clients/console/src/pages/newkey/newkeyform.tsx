import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { MINUTE_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { createApi } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { apiRoot } from '../../api/root.ts'
import { isUncertain } from '../../api/status.ts'
import { Code } from '../../components/code.tsx'
import { Paragraph } from '../../components/foreign.tsx'
import { Form } from '../../components/forms/form.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { useLeaveWarning } from '../../components/hooks/useleavewarning.ts'
import { useNow } from '../../components/hooks/usenow.ts'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { useNotify } from '../../session/notices.ts'
import { useReveal } from '../../session/revealed.ts'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import { hrefOf } from '../../text/routes.ts'
import { toYaml } from '../../text/yaml.ts'
import { type Attempt, checkKey, createKey, newAttempt } from './createkey.ts'
import { Fields } from './fields.tsx'
import { type KeyForm, keyOf } from './form.ts'
import { sentencesOf } from './sentence.ts'
import { problemsOf, refusedFields } from './validate.ts'

export interface NewKeyFormProps {
  /** What the form has before the person types. */
  first: KeyForm
  /** What precedes the fields. */
  children?: ComponentChildren
}

/** The form of a new key, and beside it what the key means. */
export function NewKeyForm({ first, children }: NewKeyFormProps) {
  const { api, self, cache } = useSession()
  const reveal = useReveal()
  const notify = useNotify()
  const now = useNow()
  // The preview says less without it.
  const { data: own } = useQuery<AccessKey>(
    `key/${self.accessKey}`,
    ({ api }, signal) => api.send(paths.key(self.accessKey), { signal }),
    MINUTE_MS,
  )
  const frame = useRef<HTMLFormElement>(null)
  const [form, setForm] = useState(first)
  const [isSubmitted, setSubmitted] = useState(false)
  /** What was sent last. What came of it is shown until the form changes. */
  const [sent, setSent] = useState<{ form: KeyForm; isCheck: boolean }>()
  /** Grows when the first wrong field shall take the focus. */
  const [faults, setFaults] = useState(0)
  const attempt = useRef<Attempt>(undefined)
  const isLeft = useRef(false)
  useEffect(
    () => () => {
      isLeft.current = true
    },
    [],
  )

  const checking = useChange(
    () => checkKey(api, keyOf(form)),
    () => {},
  )
  const creating = useChange(
    async () => {
      const made = attempt.current ?? newAttempt(keyOf(form))
      attempt.current = undefined
      try {
        await createKey(api, made, (key) => createApi({ root: apiRoot, key }))
      } catch (error) {
        if (isUncertain(error)) attempt.current = { ...made, isRepeated: true }
        // The page that would say so may be gone, and the value with it.
        if (isUncertain(error) && isLeft.current) notify({ tone: 'warn', text: lostWords(made.name) })
        throw error
      }
      return made
    },
    ({ name, value }) => {
      cache.delete('keys')
      reveal({
        title: `The value of ${name}`,
        name,
        value,
        explanation: 'Store it now: the server keeps no copy.',
        next: hrefOf('keys', [name]),
      })
    },
  )
  const isBusy = checking.isBusy || creating.isBusy
  const last = sent?.form === form ? (sent.isCheck ? checking : creating) : undefined
  const isLost = last === creating && creating.error !== undefined && isUncertain(creating.error)
  const refused = refusedFields(last?.error, form)
  const found = problemsOf(form)
  const shown = isSubmitted ? [...found, ...refused] : []
  const problem = (field: string) => shown.find((one) => one.field === field)?.text
  useEffect(
    () => frame.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
    [faults, checking.error, creating.error],
  )
  useLeaveWarning(isLost)

  const change = (changes: Partial<KeyForm>) => setForm((before) => ({ ...before, ...changes }))
  const send = (isCheck: boolean) => {
    setSubmitted(true)
    if (found.length > 0) setFaults(faults + 1)
    else if (!isBusy) {
      setSent({ form, isCheck })
      void (isCheck ? checking : creating).run()
    }
  }
  const restart = () => {
    attempt.current = undefined
    setSent(undefined)
  }

  const object = keyOf(form)
  return (
    <Form
      class="halves newkey"
      ref={frame}
      noValidate
      onSubmit={() => {
        if (!isLost) send(false)
      }}
    >
      <div class="stack">
        {children}
        <fieldset disabled={isLost || creating.isBusy} class="card stack">
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
        {last?.error !== undefined && !isLost && refused.length === 0 && <ErrorNotice error={last.error} />}
        {last === checking && !isBusy && !checking.error && (
          <Notice tone="good" title="The server would create this key." />
        )}
        {isLost ? (
          <Lost name={attempt.current?.name ?? ''} again={() => send(false)} restart={restart} />
        ) : (
          <div class="actions">
            <button type="submit" class="primary" aria-disabled={isBusy}>
              {creating.isBusy ? 'Creating…' : 'Create the key'}
            </button>
            <button type="button" aria-disabled={isBusy} onClick={() => send(true)}>
              {checking.isBusy ? 'Checking…' : 'Check'}
            </button>
          </div>
        )}
      </div>
      <aside class="stack beside" aria-label="What this key is">
        <section class="card">
          <h2>In a sentence</h2>
          <Paragraph
            text={sentencesOf(object, { self, now, ownSources: own?.spec.sourceCIDRs }).join(' ')}
            class="sentence"
          />
        </section>
        <Code title="OwnedAccessKey" text={toYaml(object)} />
        <p class="hint">
          <code>kubectl create -o yaml -f</code> with this file makes the same key. Only its answer has the value.
        </p>
      </aside>
    </Form>
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
