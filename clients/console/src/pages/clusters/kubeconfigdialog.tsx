import { useEffect, useRef, useState } from 'preact/hooks'
import { HOUR_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import { paths } from '../../api/paths.ts'
import { server } from '../../api/root.ts'
import { Code } from '../../components/code.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { Notice } from '../../components/notice.tsx'
import { copyLater, saveFile } from '../../components/savefile.ts'
import { Terminal } from '../../components/terminal.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { visible } from '../../text/visible.ts'
import { Refusal } from './refusal.tsx'
import {
  curlFileCommand,
  dailyCommands,
  fileNameOf,
  firstCommand,
  LIFETIMES,
  type Place,
  pathProblem,
  sameCommands,
  specOf,
  type Way,
} from './ways.ts'
import type { Shown } from './words.ts'

/** After this time the dialog says what it waits for, in milliseconds. */
const LONG_MS = 3000

interface Failed {
  error: unknown
  way: Way
}

interface Made {
  how: 'downloaded' | 'copied'
  expires?: string | undefined
}

/** Hands out a kube config. Its content goes to the file or the clipboard, and is not kept. */
export function KubeConfigDialog({ cluster, onClose }: { cluster: Shown; onClose(): void }) {
  const { api, ends } = useSession()
  const { place, sentence } = cluster
  const { name, namespace } = place
  const isVirtual = namespace !== undefined
  const [seconds, setSeconds] = useState(HOUR_SECONDS)
  const [file, setFile] = useState('')
  const [state, setState] = useState<{ made?: Made; failed?: Failed; wrong?: string; busy?: Way; isLong?: boolean }>({})
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
    const timer = setTimeout(() => setState({ busy: way, isLong: true }), LONG_MS)
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
    } finally {
      clearTimeout(timer)
    }
  }

  const { made, failed, wrong, busy, isLong } = state
  const daily = dailyCommands(place, server)
  return (
    <Dialog title={`Kube config of ${visible(name)}`} onClose={onClose} isWide>
      {sentence && (
        <p>
          <Foreign text={sentence} />
        </p>
      )}
      <SelectField
        label="Lifetime"
        hint="The file contains a token, and is a secret until it expires. The server may allow less, and says so."
        value={seconds}
        options={LIFETIMES}
        onChange={(one) => change(() => setSeconds(one))}
      />
      {failed && <Refusal {...failed} isVirtual={isVirtual} />}
      {isLong && (
        <p role="status">
          {busy === 'certificate'
            ? 'The virtual cluster is signing the certificate. This can take 20 seconds.'
            : `The server has not answered yet.${isVirtual ? ' It waits for up to 20 seconds.' : ''}`}
        </p>
      )}
      {made && <Done made={made} place={place} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <button type="button" aria-disabled={busy !== undefined} onClick={() => ask('token', 'copied')}>
          Copy
        </button>
        <button type="button" class="primary" aria-disabled={busy !== undefined} onClick={() => ask('token')}>
          {busy === undefined ? 'Download' : 'Asking the server…'}
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
      <Terminal commands={sameCommands(seconds, place, server)} />
    </Dialog>
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
