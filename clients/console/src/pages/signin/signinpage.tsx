import { useEffect, useRef, useState } from 'preact/hooks'
import { deploymentName } from '../../../../../lib/clusters/deployment.ts'
import { server } from '../../api/root.ts'
import { Brand } from '../../components/brand.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { Check } from '../../components/forms/check.tsx'
import { Form } from '../../components/forms/form.tsx'
import { KeyValueField } from '../../components/forms/keyvaluefield.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { ErrorNotice, WordsNotice } from '../../components/notice.tsx'
import { givenKey } from '../../session/givenkey.ts'
import type { SessionEnd, SignIn } from '../../session/session.ts'
import type { Federated } from '../../session/usesession.ts'

export interface SignInPageProps {
  end?: SessionEnd
  /** Absent: people sign in with a key only. */
  federated?: Federated
  signIn(given: SignIn): Promise<void>
}

/** A kube config with several certificates is far smaller. */
const LARGEST_FILE = 1_000_000

/** Asks for an access key. It goes to the API in the Authorization header, and nowhere else. */
export function SignInPage({ end, federated, signIn }: SignInPageProps) {
  const input = useRef<HTMLInputElement>(null)
  const provider = useRef<HTMLButtonElement>(null)
  const way = useRef(async () => {})
  const { isBusy, error, run } = useChange(
    () => way.current(),
    () => {},
  )
  const [wrong, setWrong] = useState<string>()
  const [keep, setKeep] = useState(false)
  const [isOver, setOver] = useState(false)
  useEffect(() => (provider.current ?? input.current)?.focus(), [])
  useEffect(() => {
    if (error !== undefined) input.current?.select()
  }, [error])

  const go = (next: () => Promise<void>) => {
    setWrong(undefined)
    way.current = next
    void run()
  }
  const open = (text: string) => {
    const key = givenKey(text)
    if (key !== undefined) return go(() => signIn({ key, keep }))
    setWrong(text.trim() === '' ? 'Paste an access key.' : 'It contains no access key, or more than one.')
    input.current?.focus()
  }
  const drop = async (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const file = event.dataTransfer?.files[0]
    if (file && file.size > LARGEST_FILE) setWrong('This file is too large.')
    else if (file) open(await file.text())
  }

  return (
    <main
      class={isOver ? 'signin over' : 'signin'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Brand />
      <div>
        <h1 tabIndex={-1}>Sign in</h1>
        <p class="muted">
          to <Foreign text={deploymentName(server)} />
        </p>
      </div>
      {end && (
        <WordsNotice tone="warn" {...end}>
          {end.retry && (
            <button type="button" onClick={end.retry}>
              Try again
            </button>
          )}
        </WordsNotice>
      )}
      {federated && (
        <>
          <button
            type="button"
            class="primary"
            ref={provider}
            disabled={isBusy}
            onClick={() => go(() => federated.leave(keep))}
          >
            <span>
              Sign in with <Foreign text={federated.host} />
            </span>
          </button>
          {federated.signOutAddress && (
            <p>
              You may still be signed in there.{' '}
              <a href={federated.signOutAddress} target="_blank" rel="noopener noreferrer">
                Sign out at <Foreign text={federated.host} />
              </a>
            </p>
          )}
          <p class="or">or with an access key</p>
        </>
      )}
      <Form onSubmit={() => open(input.current?.value ?? '')}>
        <KeyValueField
          input={input}
          label="Access key"
          hint="Paste it, or drop a file with it, such as a kube config."
          error={wrong}
        />
        <Check checked={keep} onChange={setKeep}>
          Keep the key for this tab, so that a reload does not sign you out. Browsers keep tabs on disk
        </Check>
        <button type="submit" class={federated ? '' : 'primary'} disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </Form>
      {error !== undefined && wrong === undefined && <ErrorNotice error={error} />}
      <details>
        <summary>Where do I get a key?</summary>
        <p class="muted">
          From an administrator, or from a colleague whose key may make others. For a new deployment,{' '}
          <code>npm run deploy</code> stores the first key in AWS Secrets Manager, and <code>npm run bootstrap</code>{' '}
          replaces one that is lost. <code>npm start</code> names the file of its own.
        </p>
      </details>
    </main>
  )
}
