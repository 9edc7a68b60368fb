import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import type { KeyLookup } from '../../../../core/src/objects.ts'
import { lookUp, reportLeak } from '../../api/leaks.ts'
import { apiRoot } from '../../api/root.ts'
import { Form } from '../../components/forms/form.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { OwnKey } from '../../components/ownkey.tsx'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'
import { reportWords } from './phasewords.ts'
import { addressHolds } from './reportedaddress.ts'

export interface LeakFormProps {
  /** What the server has said of the value. */
  found: KeyLookup
  /** The value, until it is reported. */
  held: RefObject<string | undefined>
}

/** Ends a value that was found where it does not belong. */
export function LeakForm({ found, held }: LeakFormProps) {
  const { api, cache } = useSession()
  const [url, setUrl] = useState('')
  const [wrong, setWrong] = useState<string>()
  const [reported, setReported] = useState<{ after: KeyLookup | undefined }>()
  const report = useChange(
    async () => {
      const value = held.current ?? ''
      await reportLeak(apiRoot, value, url.trim())
      // What is true now is asked for. Who has reported the key of the session gets no answer.
      return lookUp(api, value).catch(() => undefined)
    },
    (after) => {
      held.current = undefined
      cache.delete('keys')
      setReported({ after })
    },
  )
  const { name, phase } = found
  if (reported) return <Reported before={found} {...reported} />
  if (phase === 'Ended') return null
  return (
    <section class="card stack">
      <h2>Was it found where it does not belong?</h2>
      {name !== undefined && <OwnKey name={name} text="The console signs you out when it ends." />}
      <Form
        class="stack"
        autoComplete="off"
        onSubmit={() => {
          const isSecret = addressHolds(url, held.current ?? '')
          setWrong(isSecret ? 'This address contains a secret. Leave that out.' : undefined)
          if (!isSecret) void report.run()
        }}
      >
        <TextField
          label="Where it was found (optional)"
          hint="The owner of the key sees this address."
          placeholder="https://"
          value={url}
          error={wrong}
          onInput={setUrl}
        />
        {report.error !== undefined && <ErrorNotice error={report.error} />}
        <div class="actions">
          <button type="submit" class="danger" disabled={report.isBusy}>
            {report.isBusy ? 'Reporting…' : 'Report as leaked: it ends immediately'}
          </button>
          {name !== undefined && phase === 'Active' && (
            <a class="button" href={hrefOf('keys', [name])}>
              Open the key to disable it
            </a>
          )}
        </div>
      </Form>
    </section>
  )
}

function Reported({ before, after }: { before: KeyLookup; after: KeyLookup | undefined }) {
  const { isEnded, text } = reportWords(before, after)
  return (
    <Notice tone={isEnded ? 'good' : 'bad'} title="The value is reported">
      <p>{text}</p>
      {after?.name !== undefined && (
        <p>
          <a href={hrefOf('keys', [after.name])}>Open the key</a>{' '}
          {isEnded ? 'to see whether it is disabled. Give it a new value, then enable it.' : 'to disable it.'}
        </p>
      )}
    </Notice>
  )
}
