import { useEffect, useRef, useState } from 'preact/hooks'
import { HOUR_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import { paths } from '../../api/paths.ts'
import { server } from '../../api/root.ts'
import { ApiError } from '../../api/status.ts'
import { Code } from '../../components/code.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { copyLater, saveFile } from '../../components/savefile.ts'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import {
  curlFileCommand,
  dailyCommands,
  fileNameOf,
  firstCommand,
  LIFETIMES,
  type Place,
  pathProblem,
  specOf,
  type Way,
} from './ways.ts'

interface Made {
  how: 'downloaded' | 'copied'
  expires?: string | undefined
}

interface State {
  made?: Made
  failed?: { error: unknown; way: Way }
  wrong?: string
  busy?: Way
}

/** Hands out kube configs of a cluster. Their content goes to the file or the clipboard, and is not kept. */
export function KubeConfig({ place }: { place: Place }) {
  const { api, ends } = useSession()
  const { name, namespace } = place
  const isVirtual = namespace !== undefined
  const [seconds, setSeconds] = useState(HOUR_SECONDS)
  const [file, setFile] = useState('')
  const [state, setState] = useState<State>({})
  const running = useRef<AbortController>(undefined)
  const stop = () => running.current?.abort()
  useEffect(() => stop, [])

  const change = (set: () => void) => {
    // Nothing is handed out for a choice that is no longer shown.
    stop()
    set()
    setState({})
  }
  const ask = async (way: Way, how: Made['how'] = 'downloaded') => {
    if (state.busy !== undefined) return
    const wrong = way === 'curl' ? pathProblem(file) : undefined
    if (wrong !== undefined) return setState({ wrong })
    setState({ busy: way })
    const own = new AbortController()
    running.current = own
    try {
      const answer = api.send<{ status: { kubeConfig: string; expirationTimestamp?: string } }>(
        paths.kubeConfig(namespace, name),
        { method: 'POST', body: { spec: specOf({ way, seconds, file }, place) }, signal: own.signal },
      )
      const text = answer.then(({ status }) => status.kubeConfig)
      if (how === 'copied') await copyLater(text)
      else saveFile(fileNameOf(place), 'application/yaml', await text)
      const { status } = await answer
      setState({ made: { how, expires: status.expirationTimestamp } })
    } catch (error) {
      if (!own.signal.aborted) setState({ failed: { error, way } })
    }
  }

  const { made, failed, wrong, busy } = state
  const daily = dailyCommands(place, server)
  return (
    <section class="card stack" aria-labelledby="kubeconfig">
      <h2 id="kubeconfig">Kube config</h2>
      <SelectField
        label="Lifetime"
        hint="The file contains a token, and is a secret until it expires. The server may allow less, and says so."
        value={seconds}
        options={LIFETIMES}
        onChange={(one) => change(() => setSeconds(one))}
      />
      {failed && <ErrorNotice error={failed.error}>{nextStep(failed, isVirtual)}</ErrorNotice>}
      {busy === 'certificate' && (
        <p role="status">The virtual cluster is signing the certificate. This can take 20 seconds.</p>
      )}
      {made && <Done made={made} place={place} />}
      <div class="actions">
        <button type="button" class="primary" aria-disabled={busy !== undefined} onClick={() => ask('token')}>
          {busy === undefined ? 'Download' : 'Asking the server…'}
        </button>
        <button type="button" aria-disabled={busy !== undefined} onClick={() => ask('token', 'copied')}>
          Copy the kube config
        </button>
      </div>
      {daily && (
        <>
          <Code title="For daily use" text={`${daily.merge}\n`} />
          <p class="hint">
            kubectl then fetches short tokens with your access key. Sign the command line in once:{' '}
            <code>{daily.login}</code>
          </p>
        </>
      )}
      {isVirtual && (
        <>
          <details>
            <summary>A client certificate</summary>
            <p>
              For virtual clusters that do not accept tokens of this server. A certificate cannot be revoked, and
              carries no scope.
            </p>
            <button type="button" aria-disabled={busy !== undefined} onClick={() => ask('certificate')}>
              Download with a certificate
            </button>
          </details>
          <details>
            <summary>Tokens that curl fetches</summary>
            <p>For machines without the command line. The file contains no credential: curl has your access key.</p>
            {ends !== undefined && (
              <Notice tone="warn" title="You signed in without an access key.">
                <p>Make a key first: curl needs its value on the machine that uses the kube config.</p>
              </Notice>
            )}
            <TextField
              label="File for curl, on your machine"
              hint={
                <>
                  The whole path, as <code>echo ~/.kube/{fileNameOf(place).replace(/kubeconfig$/, 'curl')}</code> prints
                  it.
                </>
              }
              error={wrong}
              value={file}
              onInput={(path) => change(() => setFile(path))}
            />
            {pathProblem(file) === undefined && (
              <>
                <Code title="Write the file for curl (bash, zsh)" text={curlFileCommand(file, place, server)} />
                <p class="hint">
                  The commands ask for the access key. If the API has a private certificate authority, add the line{' '}
                  <code>cacert = "/path/to/ca.crt"</code> to the file.
                </p>
              </>
            )}
            <button type="button" aria-disabled={busy !== undefined} onClick={() => ask('curl')}>
              Download for curl
            </button>
          </details>
        </>
      )}
    </section>
  )
}

/** Says what to do when there is no kube config. */
function nextStep({ error, way }: NonNullable<State['failed']>, isVirtual: boolean) {
  if (!(error instanceof ApiError))
    return error instanceof DOMException && <p>The browser did not allow it. Download the file instead.</p>
  const { code, message } = error
  if (way === 'certificate' && code === 403)
    return <p>Choose a token: it carries the scope of your key, and ends with it.</p>
  if (code === 400 && /ingress endpoint/.test(message))
    return <p>The virtual cluster has no address. An administrator sets it in spec.accessPoint.ingress.</p>
  return (
    isVirtual &&
    code >= 502 && (
      <p>
        The server could not reach the virtual cluster in time. It may be starting. If this continues, ask its operator.
      </p>
    )
  )
}

function Done({ made: { how, expires }, place }: { made: Made; place: Place }) {
  return (
    <>
      <Notice tone="good" title={how === 'copied' ? 'Copied.' : `Downloaded ${fileNameOf(place)}.`}>
        {expires && (
          <p>
            Its credential expires <Time at={expires} direction="future" />. Keep the file to yourself.
          </p>
        )}
        {how === 'copied' && <p>Paste it into a file that only you can read.</p>}
      </Notice>
      <Code title="Use it, in the folder of the file" text={firstCommand(place)} />
    </>
  )
}
