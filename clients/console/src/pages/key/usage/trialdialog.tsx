import { useEffect, useState } from 'preact/hooks'
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { refusedByTrial } from '../../../../../core/src/scopechange.ts'
import { paths } from '../../../api/paths.ts'
import { ApiError } from '../../../api/status.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { Foreign } from '../../../components/foreign.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import { useChange } from '../../../components/hooks/usechange.ts'
import { Notice } from '../../../components/notice.tsx'
import { useNotify } from '../../../session/notices.ts'
import { useSession } from '../../../session/session.ts'
import { Comparison } from '../actions/comparison.tsx'
import { sendPatch } from '../actions/patchkey.ts'
import { scopeAfter, TRIAL_DAYS, type TrialStep, trialChange, trialEnd } from './trialchange.ts'

interface StepWords {
  title: string
  about: string
  /** The button that does it. */
  word: string
  /** What the console says afterwards. */
  done: string
}

const WORDS: Readonly<Record<TrialStep, StepWords>> = {
  try: {
    title: `Try a smaller scope for ${TRIAL_DAYS} days`,
    about:
      'Nothing is refused during the trial. A request that only the current scope allows still succeeds: its sender gets a warning, and the page of the key lists it.',
    word: 'Start the trial',
    done: 'is trying a smaller scope.',
  },
  apply: {
    title: 'Make the smaller scope real',
    about:
      'All recorded requests of the key stay allowed. Requests that the scope does not allow get a 403. You can put the former scope back for 30 days.',
    word: 'Make it real',
    done: 'has its smaller scope.',
  },
  real: {
    title: 'Make the scope of the trial real',
    about: 'Requests that the scope does not allow get a 403. You can put the former scope back for 30 days.',
    word: 'Make it real',
    done: 'has the scope of its trial.',
  },
  end: {
    title: 'End the trial',
    about: 'The key keeps its scope, and what the trial has found is forgotten.',
    word: 'End the trial',
    done: 'has no trial any more.',
  },
  drop: {
    title: 'Drop the scopes that were added',
    about:
      'Changes with scoped access keys have added scopes that limit the key besides its own. The scopes that it was made with stay.',
    word: 'Drop them',
    done: 'is no longer limited by scopes that were added.',
  },
  back: {
    title: 'Put the former scope back',
    about: 'The key may do again what it could do before. Its recorded usage stays.',
    word: 'Put it back',
    done: 'has its former scope.',
  },
}

export interface TrialDialogProps {
  step: TrialStep
  /** The smaller scope of the advice. */
  advised?: Scope
  /** The key as it was when the person chose the step. */
  accessKey: AccessKey
  refresh(): Promise<void>
  onClose(): void
}

/** Changes the trial of a key. Sends a dry run first, and what the person confirms then. */
export function TrialDialog({ step, advised, accessKey, refresh, onClose }: TrialDialogProps) {
  const { api, self } = useSession()
  const notify = useNotify()
  const { name } = accessKey.metadata
  const [until] = useState(() => trialEnd(new Date()))
  /** The key as the server would make it. */
  const [checked, setChecked] = useState<AccessKey>()
  const [isMeant, setMeant] = useState(false)
  const words = WORDS[step]
  const wish = { step, until, ...(advised && { advised }) }
  const send = async (isForced: boolean, wasLost: boolean) => {
    const { patch, isDone } = trialChange(accessKey, { ...wish, isForced })
    if (!checked && !isForced)
      return api.send<AccessKey>(paths.key(name), { method: 'PATCH', body: patch, dryRun: true })
    await sendPatch(api, name, patch, isDone, wasLost)
    return undefined
  }
  const done = async (answer: AccessKey | undefined) => {
    if (answer) return setChecked(answer)
    onClose()
    notify({ tone: 'good', text: `${name} ${words.done}` })
    await refresh()
  }
  const change = useChange((wasLost) => send(false, wasLost), done)
  const forced = useChange((wasLost) => send(true, wasLost), done)
  useEffect(() => void change.run(), [])
  const refused = change.error instanceof ApiError ? refusedByTrial(change.error.status) : undefined
  const isScope = step !== 'end' && step !== 'drop'
  const after = step === 'try' ? checked?.spec.scopeTrial?.scope : checked?.spec.scope
  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      <p>{words.about}</p>
      {name === self.accessKey && (
        <Notice tone="warn" title="You are signed in with this key">
          <p>The console can do only what the scope of this key allows.</p>
        </Notice>
      )}
      {step === 'apply' && (
        <Notice tone="warn" title="This scope was not tried">
          <p>The record may not include requests that the key makes only once a month.</p>
        </Notice>
      )}
      <ChangeForm
        change={refused ? forced : change}
        word={refused ? 'Make it real anyway' : checked ? words.word : 'Check'}
        busyWord={checked || refused ? 'Saving…' : 'Checking…'}
        tone={refused ? 'danger' : 'primary'}
        onSubmit={() => {
          if (!refused) void change.run()
          else if (isMeant) void forced.run()
        }}
        onClose={onClose}
      >
        {isScope && (
          <Comparison before={accessKey.spec.scope} after={checked ? after : scopeAfter(accessKey, step, advised)} />
        )}
        {refused && <Refused requests={refused} isMeant={isMeant} setMeant={setMeant} />}
        {checked && change.error === undefined && (
          <Notice tone="good" title="The server would do this. Nothing is changed yet." />
        )}
      </ChangeForm>
    </Dialog>
  )
}

interface RefusedProps {
  requests: readonly string[]
  isMeant: boolean
  setMeant(isMeant: boolean): void
}

const Refused = ({ requests, isMeant, setMeant }: RefusedProps) => (
  <Notice tone="warn" title="The scope would have refused requests of the key">
    <ul class="bullets">
      {requests.map((request) => (
        <li key={request}>
          <Foreign text={request} />
        </li>
      ))}
    </ul>
    <label class="check">
      <input type="checkbox" required checked={isMeant} onChange={(event) => setMeant(event.currentTarget.checked)} />
      Yes, refuse such requests from now on
    </label>
  </Notice>
)
