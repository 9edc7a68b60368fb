import { useEffect, useRef, useState } from 'preact/hooks'
import { DAY_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
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
import { option } from '../../text/kubectl.ts'
import { visible } from '../../text/visible.ts'
import { Refusal } from './refusal.tsx'
import {
  type Choice,
  curlFileCommand,
  fileNameOf,
  isSecret,
  LIFETIMES,
  nextCommands,
  type Place,
  pathProblem,
  sameCommands,
  specOf,
  WAYS,
} from './ways.ts'
import type { Shown } from './words.ts'

/** After this time the dialog says what it waits for, in milliseconds. */
const LONG_MS = 3000

interface Made {
  how: 'downloaded' | 'copied'
  choice: Choice
  expires?: string | undefined
}

/** Asks how the kube config shall sign in, and hands it out. Its content goes to the file or the clipboard, and is not kept. */
export function KubeConfigDialog({ cluster, onClose }: { cluster: Shown; onClose(): void }) {
  const { api, ends } = useSession()
  const isExchanged = ends !== undefined
  const { place, sentence } = cluster
  const { name, namespace, project } = place
  const isVirtual = namespace !== undefined
  const usual = `/home/ME/.kube/${name}.${namespace}.curl`
  const [choice, setChoice] = useState<Choice>({
    // The value of an exchanged key is nowhere but here, so only the file itself can sign in. A connected cluster has only tokens.
    way: isExchanged || !isVirtual ? 'token' : 'curl',
    seconds: DAY_SECONDS,
    file: usual,
  })
  const [state, setState] = useState<{ made?: Made; error?: unknown; wrong?: string; busy?: 'asking' | 'long' }>({})
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const change = (part: Partial<Choice>) => {
    // Nothing is handed out for a choice that is no longer shown.
    running.current?.abort()
    setChoice((before) => ({ ...before, ...part }))
    setState({})
  }
  const ask = async (how: Made['how']) => {
    if (state.busy !== undefined) return
    const wrong = choice.way === 'curl' ? pathProblem(choice.file) : undefined
    if (wrong !== undefined) return setState({ wrong })
    setState({ busy: 'asking' })
    const own = new AbortController()
    running.current = own
    const timer = setTimeout(() => setState({ busy: 'long' }), LONG_MS)
    try {
      const answer = api.send<{ status: { kubeConfig: string; expirationTimestamp?: string } }>(
        paths.kubeConfig(namespace, name),
        { method: 'POST', body: { spec: specOf(choice, place, server) }, signal: own.signal },
      )
      const text = answer.then(({ status }) => status.kubeConfig)
      if (how === 'copied') await copyLater(text)
      else saveFile(fileNameOf(place), 'application/yaml', await text)
      const { status } = await answer
      setState({ made: { how, choice, expires: status.expirationTimestamp } })
    } catch (error) {
      if (!own.signal.aborted) setState({ error })
    } finally {
      clearTimeout(timer)
    }
  }

  const { way, seconds, file } = choice
  const { made, error, wrong, busy } = state
  return (
    <Dialog
      title={`Kube config of ${visible(name)}`}
      onClose={onClose}
      isTyped={file !== usual && made === undefined}
      isWide
    >
      {isVirtual && (
        <fieldset class="ways">
          <legend>How it signs in</legend>
          {WAYS.map(({ way: one, title, needs, rightFor }) => (
            <label class="check" key={one}>
              <input
                type="radio"
                name="way"
                checked={one === way}
                disabled={one === 'keyplane' && project === undefined}
                onChange={() => change({ way: one })}
              />
              <span>
                <strong>{title}</strong>
                <span class="hint">
                  Right for {rightFor}. Needs {needs}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {sentence && (
        <p>
          <Foreign text={sentence} />
        </p>
      )}
      {isExchanged && !isSecret(way) && (
        <Notice tone="warn" title="You signed in without an access key.">
          <p>Make a key first: this way needs its value on the machine that uses the kube config.</p>
        </Notice>
      )}
      {isSecret(way) ? (
        <SelectField
          label="Lifetime"
          hint="The server may allow less, and says so."
          value={seconds}
          options={LIFETIMES}
          onChange={(one) => change({ seconds: one })}
        />
      ) : (
        <p>
          The file contains no credential: kubectl fetches tokens of 15 minutes with your access key. The file alone
          signs nobody in.
        </p>
      )}
      {way === 'curl' && (
        <>
          <TextField
            label="File for curl, on your machine"
            hint="The whole path. The kube config names this file, and the commands below write it."
            error={wrong}
            value={file}
            onInput={(path) => change({ file: path })}
          />
          {pathProblem(file) === undefined && (
            <Code title="Write the file for curl (bash, zsh)" text={curlFileCommand(file, place, server)} />
          )}
          <p class="hint">
            The commands ask for the access key. If the API has a private certificate authority, add the line{' '}
            <code>cacert = "/path/to/ca.crt"</code> to the file.
          </p>
        </>
      )}
      {!isVirtual && (
        <p class="hint">
          With <code>keyplane kubeconfig {option('--cluster', name)} --merge</code>, kubectl fetches short tokens with
          your access key.
        </p>
      )}
      {error !== undefined && <Refusal error={error} way={way} isVirtual={isVirtual} />}
      {busy === 'long' && (
        <p role="status">
          {way === 'certificate'
            ? 'The virtual cluster is signing the certificate. This can take 20 seconds.'
            : `The server has not answered yet.${isVirtual ? ' It waits for up to 20 seconds.' : ''}`}
        </p>
      )}
      {made && <Done made={made} place={place} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <button type="button" aria-disabled={busy !== undefined} onClick={() => ask('copied')}>
          Copy
        </button>
        <button type="button" class="primary" aria-disabled={busy !== undefined} onClick={() => ask('downloaded')}>
          {busy === undefined ? 'Download' : 'Asking the server…'}
        </button>
      </div>
      <Terminal commands={sameCommands(choice, place, server)} />
    </Dialog>
  )
}

function Done({ made: { how, choice, expires }, place }: { made: Made; place: Place }) {
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
      <Code title="Use it, in the folder of the file" text={nextCommands(choice, place, server)} />
    </>
  )
}
