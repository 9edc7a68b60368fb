/** Asks for the name of a cluster before a change after which clusters refuse all users of keyplane. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Lockout, lockoutIn } from '../../../../core/src/words/lockout.ts'
import type { Call } from '../../api/client.ts'
import { useSession } from '../../session/session.ts'
import { Foreign } from '../foreign.tsx'
import { type Change, useChange } from '../hooks/usechange.ts'
import { Notice } from '../notice.tsx'
import { TextField } from './textfield.tsx'

export interface Confirmation {
  /** What is asked. Absent if no cluster refuses anybody. */
  asked: ComponentChildren
  /** Reports whether the name of a cluster was typed, and says so if not. */
  isGiven(): boolean
}

/** Asks for the name of the first cluster that the warning names, or for `name` if it names none. */
export function useConfirmation(lockout: Lockout | undefined, name: string): Confirmation {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState<string>()
  const expected = lockout?.clusters[0] ?? name
  return {
    isGiven() {
      const isRight = lockout === undefined || typed.trim() === expected
      setWrong(isRight ? undefined : `This is not ${expected}.`)
      return isRight
    },
    asked: lockout && (
      <Notice tone="bad" title="Clusters may refuse everybody">
        <p>
          <Foreign text={lockout.text} />.
        </p>
        <TextField label={`Type ${expected} to do it anyway`} error={wrong} value={typed} onInput={setTyped} />
      </Notice>
    ),
  }
}

/** A write of an object that has the right to review. */
export interface Tried {
  path: string
  call: Call
  name: string
}

/** Returns the change, which tries the write first. It goes on by itself if it locks nobody out. */
export function useLockout(change: Change, tried: Tried | false | undefined): Change {
  const { api } = useSession()
  const [found, setFound] = useState<{ of: string; lockout?: Lockout | undefined }>()
  const of = JSON.stringify(tried)
  const shown = found && found.of === of ? found : undefined
  const { asked, isGiven } = useConfirmation(shown?.lockout, tried ? tried.name : '')
  const trial = useChange(
    async () => {
      let lockout: Lockout | undefined
      const onWarnings = (texts: readonly string[]) => {
        lockout = lockoutIn(texts)
      }
      if (tried) await api.send(tried.path, { ...tried.call, dryRun: true, onWarnings })
      return lockout
    },
    async (lockout) => {
      setFound({ of, lockout })
      if (lockout === undefined) await change.run()
    },
  )
  if (!tried) return change
  return {
    isBusy: trial.isBusy || change.isBusy,
    error: trial.error ?? change.error,
    asked,
    async run() {
      if (!shown) await trial.run()
      else if (isGiven()) await change.run()
    },
  }
}
