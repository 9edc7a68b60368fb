import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { Code } from '../../../components/code.tsx'
import { ErrorNotice, Notice } from '../../../components/notice.tsx'
import { Time } from '../../../components/time.tsx'
import { useSession } from '../../../session/session.ts'
import { shellWord } from '../../../text/kubectl.ts'
import type { KeyProps } from '../actions/actionprops.ts'
import { rotationOf, valuesOf, whyNot } from './rotation.ts'
import { Finish, MakeValue } from './rotationforms.tsx'
import { type RotationControl, useRotation } from './userotation.ts'

type StepState = 'done' | 'now' | 'later'

const STEPS = ['make', 'use', 'overlap'] as const

/**
 * Guides through a rotation. Where it is comes from the key alone, so a reload and other tabs show the same. The focus goes there when
 * somebody asks for it.
 */
export function RotationSteps({ accessKey, refresh, asked }: KeyProps & { asked: number }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (asked > 0) title.current?.focus()
  }, [asked])
  const control = useRotation({ accessKey, refresh })
  const { step, fresh, old } = rotationOf(valuesOf(accessKey))
  const obstacle = whyNot(accessKey)
  const stateOf = (one: (typeof STEPS)[number]): StepState => {
    const [at, now] = [STEPS.indexOf(one), STEPS.indexOf(step)]
    return at < now ? 'done' : at === now ? 'now' : 'later'
  }
  return (
    <section class="card rotation" aria-labelledby="rotation">
      <h2 id="rotation" ref={title} tabIndex={-1}>
        Rotate
      </h2>
      <p class="hint">
        Give the key a new value without an outage. Its name, scope and expiry stay. The old value works until the new
        one is used for the first time, and then for as long as you choose.
      </p>
      {control.error !== undefined && <ErrorNotice error={control.error} />}
      {control.lost && <Lost control={control} />}
      {obstacle !== undefined && <p>{obstacle}</p>}
      {obstacle === undefined && (
        <ol class="steps">
          <RotationStep title="Make a new value" state={stateOf('make')}>
            {step === 'make' ? (
              !control.lost && <MakeValue control={control} />
            ) : (
              <p>{fresh?.made && <Time at={fresh.made} direction="past" />}</p>
            )}
          </RotationStep>
          <RotationStep title="Store it where the job reads it" state={stateOf('use')}>
            {step === 'use' && <StoreCommands name={accessKey.metadata.name} />}
          </RotationStep>
          <RotationStep
            title={step === 'overlap' ? 'The new value was used' : 'Wait for its first use'}
            state={stateOf('use')}
          >
            {step === 'use' && <Waiting accessKey={accessKey} control={control} />}
            {step === 'overlap' && fresh?.lastActivity && (
              <p>
                Last <Time at={fresh.lastActivity} direction="past" />
              </p>
            )}
          </RotationStep>
          <RotationStep title="The old value ends" state={stateOf('overlap')}>
            {step === 'overlap' && (
              <>
                <p>
                  {old?.until && <Time at={old.until} direction="future" />} by itself. It was last used{' '}
                  {old?.lastActivity ? <Time at={old.lastActivity} direction="past" /> : 'never'}.
                </p>
                <div class="actions">
                  <Finish accessKey={accessKey} control={control} step="overlap" />
                </div>
              </>
            )}
          </RotationStep>
        </ol>
      )}
    </section>
  )
}

const RotationStep = ({ title, state, children }: { title: string; state: StepState; children: ComponentChildren }) => (
  <li class={`step ${state}`} aria-current={state === 'now' ? 'step' : undefined}>
    <h3>
      {title} <span class="hidden">({state})</span>
    </h3>
    {children}
  </li>
)

/** Command lines that store the value. Each asks for it: it is part of no command line. */
const StoreCommands = ({ name }: { name: string }) => (
  <>
    <p>
      Store the value <strong>before</strong> anything uses it. These commands ask for it, so it stays out of the shell
      history. End the input of the second and third command with Ctrl-D.
    </p>
    <Code
      title="Commands"
      text={[
        'gh secret set KEYPLANE_KEY --repo OWNER/REPOSITORY',
        `aws secretsmanager put-secret-value --secret-id ${shellWord(name)} --secret-string file:///dev/stdin`,
        `kubectl create secret generic ${shellWord(name)} --from-file=key=/dev/stdin --dry-run=client -o yaml | kubectl apply -f -`,
      ].join('\n')}
    />
  </>
)

const Lost = ({ control }: { control: RotationControl }) => (
  <Notice tone="warn" title="The key may or may not have the new value">
    <p>
      No answer came. Try again: it sends the same value, so the key never gets a second one. Then you see the value. If
      you leave this page, the value stays in this session.
    </p>
    <button type="button" class="primary" disabled={control.isBusy} onClick={() => void control.repeat()}>
      Try again
    </button>
  </Notice>
)

function Waiting({ accessKey, control }: { accessKey: AccessKey; control: RotationControl }) {
  const { self } = useSession()
  const isOwn = accessKey.metadata.name === self.accessKey
  const [isLost, setLost] = useState(false)
  return (
    <>
      <p role="status">
        Nothing has used the new value yet. Until then, the old one works. This page looks every 3 seconds.
      </p>
      {accessKey.spec.disabled && <p>The key is disabled: no value works until you enable it.</p>}
      {isOwn && (
        <p>
          You are signed in with the old value of this key.{' '}
          {control.own === undefined
            ? 'Once the new one is stored, sign in with it.'
            : 'Once the new one is stored, continue with it: that is its first use.'}
        </p>
      )}
      <div class="actions">
        {isOwn && control.own !== undefined && (
          <button type="button" class="primary" disabled={control.isBusy} onClick={() => void control.goOn()}>
            Continue with the new value
          </button>
        )}
        <Finish accessKey={accessKey} control={control} step="use" />
        <button type="button" aria-expanded={isLost} onClick={() => setLost(!isLost)}>
          The new value is lost
        </button>
      </div>
      {isLost && <MakeValue control={control} isReplacement onDone={() => setLost(false)} />}
    </>
  )
}
