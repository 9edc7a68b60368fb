import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyLookup } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { Foreign } from '../../components/foreign.tsx'
import { KeyValueField } from '../../components/forms/keyvaluefield.tsx'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'
import { phaseWords } from './phasewords.ts'

type Answer = { found: KeyLookup } | { error: unknown }

/** Says which key has a value that somebody has found. The value is in the field until it is sent, and nowhere else. */
export function WhosePage() {
  const { api } = useSession()
  const input = useRef<HTMLInputElement>(null)
  const asking = useRef<AbortController>(undefined)
  const [isBusy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string>()
  const [answer, setAnswer] = useState<Answer>()
  useEffect(() => {
    const field = input.current
    const clear = () => {
      if (field) field.value = ''
    }
    // A page that the browser keeps for going back would keep the value too.
    window.addEventListener('pagehide', clear)
    return () => {
      window.removeEventListener('pagehide', clear)
      clear()
      asking.current?.abort()
    }
  }, [])

  /** Takes the value out of the field before anything else can happen. */
  const take = (): string => {
    const value = input.current?.value.trim() ?? ''
    if (input.current) input.current.value = ''
    return value
  }
  const ask = async () => {
    const key = take()
    setAnswer(undefined)
    setWrong(key === '' ? 'Paste the value of a key.' : undefined)
    if (key === '') return
    const ended = new AbortController()
    asking.current = ended
    setBusy(true)
    const show = (next: Answer) => {
      if (ended.signal.aborted) return
      setBusy(false)
      setAnswer(next)
    }
    try {
      const call = { method: 'POST', body: { spec: { key } }, signal: ended.signal } as const
      const { status = {} } = await api.send<{ status?: KeyLookup }>(paths.lookups, call)
      show({ found: status })
    } catch (error) {
      show({ error })
    }
  }
  return (
    <Page
      title="Whose key is this?"
      about="Find out which access key has a value. Asking does not use or end the value."
    >
      <div class="whose">
        <form
          class="card"
          autoComplete="off"
          onSubmit={(event) => {
            event.preventDefault()
            void ask()
          }}
        >
          <KeyValueField
            input={input}
            label="Value of the key"
            hint="It is sent to this server only, cleared immediately, and not kept."
            error={wrong}
          />
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Asking…' : 'Ask'}
          </button>
        </form>
        {answer && <Shown answer={answer} />}
      </div>
    </Page>
  )
}

function Shown({ answer }: { answer: Answer }) {
  if ('error' in answer && answer.error instanceof ApiError && answer.error.code === 422) {
    return (
      <Notice tone="warn" title="This cannot be the value of a key.">
        <p>It may be a part of one, or more than one. It was cleared. Paste the whole value.</p>
      </Notice>
    )
  }
  if ('error' in answer) {
    return (
      <ErrorNotice error={answer.error}>
        <p>The value was cleared. To ask again, paste it again.</p>
      </ErrorNotice>
    )
  }
  const { name, owner, phase } = answer.found
  if (name === undefined) return <Notice tone="plain" title="No key that you may see has this value." />
  return (
    <Notice tone="good" title="This is the value of a key">
      <dl>
        <div>
          <dt>Key</dt>
          <dd>
            <a href={hrefOf('keys', [name])}>
              <Foreign text={name} />
            </a>
          </dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>
            <Foreign text={owner ?? 'unknown'} />
          </dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>
            <Foreign text={phaseWords(phase)} />
          </dd>
        </div>
      </dl>
      <p>If the value was found where it does not belong, open the key to rotate, disable or delete it.</p>
    </Notice>
  )
}
