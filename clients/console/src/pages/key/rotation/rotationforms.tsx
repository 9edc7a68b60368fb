import { useState } from 'preact/hooks'
import { DAY_SECONDS, HOUR_SECONDS } from '../../../../../../lib/engine/meta/value/durations.ts'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import { Form } from '../../../components/forms/form.tsx'
import { SelectField } from '../../../components/forms/selectfield.tsx'
import { useSession } from '../../../session/session.ts'
import type { RotationControl } from './userotation.ts'

const OVERLAPS: readonly [seconds: number, words: string][] = [
  [0, 'not at all: its first use ends the old value'],
  [HOUR_SECONDS, '1 hour'],
  [6 * HOUR_SECONDS, '6 hours'],
  [DAY_SECONDS, '1 day'],
  [7 * DAY_SECONDS, '7 days'],
  [30 * DAY_SECONDS, '30 days, the longest'],
]

export interface MakeValueProps {
  control: RotationControl
  isReplacement?: boolean
  onDone?(): void
}

/** Asks for the overlap, and makes the value. */
export function MakeValue({ control, isReplacement = false, onDone }: MakeValueProps) {
  const { self } = useSession()
  const [overlap, setOverlap] = useState<number>(HOUR_SECONDS)
  // A key with this role needs an overlap in which its owner can notice.
  const isLimited = self.accessKeyScope?.roles?.some(({ role }) => role === 'selfRotate') === true
  const make = async () => {
    await control.make(overlap, isReplacement)
    onDone?.()
  }
  return (
    <Form class="stack" onSubmit={() => void make()}>
      {isReplacement && (
        <p>
          This makes another value. The pending one ends: anyone who has stored it can no longer use it. The old value
          keeps working.
        </p>
      )}
      <SelectField
        label="How long the old value works after the first use of the new one"
        hint="Longer than the longest job, or than the time after which a service reads its secret again."
        value={overlap}
        options={OVERLAPS.filter(([seconds]) => seconds > 0 || !isLimited)}
        onChange={(seconds) => setOverlap(seconds)}
      />
      <div class="actions">
        <button type="submit" class={isReplacement ? 'danger' : 'primary'} disabled={control.isBusy}>
          {control.isBusy ? 'Making…' : isReplacement ? 'Replace the new value' : 'Make a new value'}
        </button>
      </div>
    </Form>
  )
}

const FINISH = {
  use: {
    button: 'Discard the new value',
    about:
      'The new value ends, and the old one keeps working. Anyone who has stored the new value must store the old one again.',
  },
  overlap: {
    button: 'End the old value now',
    about: 'Everything that still uses the old value gets a 401 at its next request. The new value keeps working.',
  },
} as const

interface FinishProps {
  control: RotationControl
  step: 'use' | 'overlap'
  accessKey: AccessKey
}

/** Ends an open rotation, after a question. What goes wrong is shown by the card: the rotation may have gone on meanwhile. */
export function Finish({ control, step, accessKey }: FinishProps) {
  const [seen, setSeen] = useState<AccessKey>()
  const { button, about } = FINISH[step]
  const end = async (key: AccessKey) => {
    await control.finish(key)
    setSeen(undefined)
  }
  return (
    <>
      <button type="button" disabled={control.isBusy} onClick={() => setSeen(accessKey)}>
        {button}
      </button>
      {seen && (
        <Dialog title={button} onClose={() => setSeen(undefined)}>
          <p>{about}</p>
          <ChangeForm
            change={{ isBusy: control.isBusy, run: () => end(seen) }}
            word={button}
            tone="danger"
            onClose={() => setSeen(undefined)}
          />
        </Dialog>
      )}
    </>
  )
}
