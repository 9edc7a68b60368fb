import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyLookup } from '../../../../core/src/objects.ts'
import { ANYWAY, judgeFoundValue, ODD } from '../../../../core/src/words/foundvalue.ts'
import { lookUp } from '../../api/leaks.ts'
import { ApiError } from '../../api/status.ts'
import { Fact } from '../../components/fact.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { Form } from '../../components/forms/form.tsx'
import { KeyValueField } from '../../components/forms/keyvaluefield.tsx'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { ownerInWords } from '../../text/access.ts'
import { hrefOf } from '../../text/routes.ts'
import { LeakForm } from './leakform.tsx'
import { phaseWords } from './phasewords.ts'

type Answer = { found: KeyLookup } | { error: unknown } | { refused: string }

/** Says which key has a value that somebody has found. The value is in the field until it is sent, and in memory until it is reported. */
export function WhosePage() {
  const { api } = useSession()
  const input = useRef<HTMLInputElement>(null)
  const held = useRef<string>(undefined)
  const asking = useRef<AbortController>(undefined)
  const [isOdd, setOdd] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string>()
  const [answer, setAnswer] = useState<Answer>()
  useEffect(() => {
    const field = input.current
    const clear = () => {
      held.current = undefined
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
  /** `isSure` says that the person wants to send a text that does not look like a key. */
  const ask = async (isSure: boolean) => {
    const judged = judgeFoundValue(input.current?.value.trim() ?? '')
    const isOddNow = judged.kind === 'odd' && !isSure
    setOdd(isOddNow)
    setAnswer(undefined)
    held.current = undefined
    if (isOddNow) return setWrong(undefined)
    const key = take()
    setWrong(key === '' ? 'Paste the value of a key.' : undefined)
    if (key === '') return
    if (judged.kind === 'refused') return setAnswer({ refused: judged.why })
    const ended = new AbortController()
    asking.current = ended
    setBusy(true)
    const next: Answer = await lookUp(api, key, ended.signal).then(
      (found) => ({ found }),
      (error) => ({ error }),
    )
    if (ended.signal.aborted) return
    if ('found' in next) held.current = key
    setBusy(false)
    setAnswer(next)
  }
  return (
    <Page
      title="Whose key is this?"
      about="Find out which access key has a value, and report it if it has leaked. Asking does not use or end it."
    >
      <div class="stack whose">
        <Form class="card stack" autoComplete="off" onSubmit={() => void ask(false)} onInput={() => setOdd(false)}>
          <KeyValueField
            input={input}
            label="Value of the key"
            hint="It is sent to this server only. The field is cleared immediately, and the page forgets the value when you leave it."
            error={wrong}
          />
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Asking…' : 'Ask'}
          </button>
          {isOdd && (
            <Notice tone="warn" title={ODD}>
              <p>{ANYWAY} It may be a secret of another service.</p>
              <div class="actions">
                <button type="button" onClick={() => void ask(true)}>
                  Send it anyway
                </button>
                <button
                  type="button"
                  onClick={() => {
                    take()
                    setOdd(false)
                  }}
                >
                  Clear it
                </button>
              </div>
            </Notice>
          )}
        </Form>
        {answer && <Shown answer={answer} />}
        {answer && 'found' in answer && <LeakForm found={answer.found} held={held} />}
      </div>
    </Page>
  )
}

function Shown({ answer }: { answer: Answer }) {
  if ('refused' in answer) {
    return (
      <Notice tone="warn" title={answer.refused}>
        <p>It was not sent, and it was cleared. Paste the whole value of a key, and nothing else.</p>
      </Notice>
    )
  }
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
      <p>
        <a href={hrefOf('keys', [name])}>
          <Foreign text={name} />
        </a>
      </p>
      <dl class="facts-list">
        <Fact name="Owner" text={ownerInWords(owner) || 'unknown'} />
        <Fact name="State" text={phaseWords(phase)} />
      </dl>
    </Notice>
  )
}
