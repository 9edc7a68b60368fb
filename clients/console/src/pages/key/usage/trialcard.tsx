import { useState } from 'preact/hooks'
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import type { KeyUsage } from '../../../../../core/src/usage.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { useNow } from '../../../components/hooks/usenow.ts'
import { DialogPart, part, usePreload } from '../../../components/part.tsx'
import { Time } from '../../../components/time.tsx'
import { mayWords } from '../actions/difference.ts'
import type { TrialStep } from './trialchange.ts'
import { onDay } from './usedlines.ts'

const dialog = part(async () => (await import('./trialdialog.tsx')).TrialDialog)

export interface TrialButtonsProps {
  accessKey: AccessKey
  advised?: Scope
  steps: readonly (readonly [step: TrialStep, word: string])[]
  refresh(): Promise<void>
}

/** Buttons that open the dialog of a step. */
export function TrialButtons({ accessKey, advised, steps, refresh }: TrialButtonsProps) {
  const [open, setOpen] = useState<{ step: TrialStep; seen: AccessKey; advised?: Scope }>()
  usePreload(dialog)
  return (
    <>
      <div class="actions">
        {steps.map(([step, word]) => (
          <button
            type="button"
            key={step}
            onClick={() => setOpen({ step, seen: accessKey, ...(advised && { advised }) })}
          >
            {word}
          </button>
        ))}
      </div>
      {open && (
        <DialogPart
          dialog={dialog}
          step={open.step}
          {...(open.advised && { advised: open.advised })}
          accessKey={open.seen}
          refresh={refresh}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

interface TrialCardProps {
  accessKey: AccessKey
  /** Absent if the person may not read it. */
  usage: KeyUsage | undefined
  refresh(): Promise<void>
}

/** Says what a smaller scope would have refused while it is tried, and offers the former one afterwards. */
export function TrialCard({ accessKey, usage, refresh }: TrialCardProps) {
  const now = useNow()
  const { scopeTrial } = accessKey.spec
  const former = accessKey.status?.formerScope
  const hasFormer = former !== undefined && !(Date.parse(former.until ?? '') <= now.getTime())
  const added = accessKey.status?.addedScopes ?? []
  if (!scopeTrial && !hasFormer && added.length === 0) return null
  return (
    <section class="card" aria-labelledby="trial">
      <h2 id="trial">{scopeTrial ? 'Trial of a smaller scope' : hasFormer ? 'The former scope' : 'Added scopes'}</h2>
      {scopeTrial && <Trial accessKey={accessKey} usage={usage} refresh={refresh} />}
      {hasFormer && (
        <>
          <p>
            A smaller scope was made real. Before, the key could <Foreign text={mayWords(former.scope)} />.
            {former.until && (
              <>
                {' '}
                The server keeps this scope for some time, and removes it <Time at={former.until} direction="future" />.
              </>
            )}
          </p>
          <TrialButtons accessKey={accessKey} steps={[['back', 'Put the former scope back']]} refresh={refresh} />
        </>
      )}
      {added.length > 0 && (
        <>
          <p>Changes with scoped access keys have added scopes, which limit the key besides its own. It may only:</p>
          <ul class="bullets">
            {added.map((scope) => (
              <li key={mayWords(scope)}>
                <Foreign text={mayWords(scope)} />
              </li>
            ))}
          </ul>
          <TrialButtons accessKey={accessKey} steps={[['drop', 'Drop the added scopes']]} refresh={refresh} />
        </>
      )}
    </section>
  )
}

function Trial({ accessKey, usage, refresh }: TrialCardProps) {
  const { spec, status } = accessKey
  const { until, phase, refusals = 0, lastRefused } = status?.scopeTrial ?? {}
  const refused = (usage?.entries ?? []).filter(({ refusedBy }) => refusedBy?.includes('Own'))
  return (
    <>
      <p>
        With the scope of the trial, the key may <Foreign text={mayWords(spec.scopeTrial?.scope)} />.
        {until && (
          <>
            {' '}
            The trial {phase === 'Ended' ? 'ended' : 'ends'} <Time at={until} direction="future" />.
          </>
        )}
      </p>
      {refusals === 0 ? (
        <p>It would have refused nothing so far.</p>
      ) : (
        <>
          <h3>It would have refused</h3>
          <ul class="requests">
            {refused.map(({ request, lastUsed }) => (
              <li key={request}>
                <Foreign text={request} /> <span class="muted">{onDay(lastUsed)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {refusals > refused.length && (
        <p class="hint">
          {refusals === 1 ? '1 kind' : `${refusals} kinds`} of requests in all, the last{' '}
          {lastRefused !== undefined && onDay(lastRefused)}. The usage of the keys that this key made has theirs.
        </p>
      )}
      <TrialButtons
        accessKey={accessKey}
        steps={[
          ['real', 'Make it real'],
          ['end', 'End the trial'],
        ]}
        refresh={refresh}
      />
    </>
  )
}
