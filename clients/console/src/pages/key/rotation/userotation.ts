/** Rotates a key on behalf of the person, and shows the new value once. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { encodeKey } from '../../../../../../lib/engine/meta/value/credentialformat.ts'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { isUncertain } from '../../../api/status.ts'
import { useNotify } from '../../../session/notices.ts'
import { useReveal } from '../../../session/revealed.ts'
import { type Session, useSession } from '../../../session/session.ts'
import type { KeyProps } from '../actions/actionprops.ts'
import { rotationOf, valuesOf } from './rotation.ts'
import { type Attempt, finish, rotate } from './rotationcall.ts'

export interface RotationControl {
  isBusy: boolean
  error?: unknown
  /** Whether a value was sent, and no answer tells what became of it. */
  lost: boolean
  /** The new value, if it belongs to the key of the session and waits for its first use. */
  own?: string
  make(overlapSeconds: number, isReplacement: boolean): Promise<void>
  repeat(): Promise<void>
  /** Ends the rotation that the person has seen. */
  finish(seen: AccessKey): Promise<void>
  goOn(): Promise<void>
}

/** What is in memory until the session ends, by the UIDs of keys. */
interface Memory {
  /** The keys whose steps are open: a request may have lost its answer. */
  opened: Set<string>
  attempts: Map<string, Attempt>
  own: Map<string, string>
}
const memories = new WeakMap<Session, Memory>()

function memoryOf(session: Session): Memory {
  const memory = memories.get(session) ?? { opened: new Set(), attempts: new Map(), own: new Map() }
  memories.set(session, memory)
  return memory
}

/** Returns whether the steps of the rotation of a key are open, and opens them. */
export function useOpened(uid: string): [isOpen: boolean, open: () => void] {
  const { opened } = memoryOf(useSession())
  const [, show] = useState(0)
  return [opened.has(uid), () => show(opened.add(uid).size)]
}

const GONE_ON = 'The rotation has changed in the meantime, so nothing was ended. Look at its current state.'

export function useRotation({ accessKey, refresh }: KeyProps): RotationControl {
  const session = useSession()
  const notify = useNotify()
  const reveal = useReveal()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const running = useRef(false)
  const { attempts, own } = memoryOf(session)
  const { name, uid } = accessKey.metadata
  const isWaiting = rotationOf(valuesOf(accessKey)).step === 'use'
  useEffect(() => {
    if (!isWaiting) own.delete(uid)
  }, [isWaiting, own, uid])

  /** Runs one request at a time, and then reads the key. Returns the error, if there is one. */
  const run = async (act: () => Promise<void>): Promise<unknown> => {
    if (running.current) return undefined
    running.current = true
    setBusy(true)
    setError(undefined)
    let failure: unknown
    try {
      await act()
    } catch (caught) {
      failure = caught
    }
    await refresh()
    running.current = false
    setBusy(false)
    return failure
  }

  const send = async (attempt: Attempt): Promise<void> => {
    attempts.set(uid, attempt)
    const failure = await run(async () => {
      await rotate(session.api, accessKey, attempt)
      attempts.delete(uid)
      if (name === session.self.accessKey) own.set(uid, attempt.value)
      reveal({
        title: `The new value of ${name}`,
        name,
        value: attempt.value,
        explanation: `Store it where the job reads it. It is shown only now. The old value works until this one is used.`,
      })
    })
    if (failure === undefined) return
    if (isUncertain(failure)) attempts.set(uid, { ...attempt, isLost: true })
    else attempts.delete(uid)
    setError(failure)
  }
  const attempt = attempts.get(uid)
  const value = own.get(uid)
  return {
    isBusy,
    error,
    lost: attempt?.isLost === true,
    ...(value !== undefined && isWaiting && { own: value }),
    make: (overlapSeconds, isReplacement) =>
      send({
        value: encodeKey(crypto.getRandomValues(new Uint8Array(32))),
        overlapSeconds,
        ...(isReplacement && { replaces: accessKey.metadata.resourceVersion }),
        isLost: false,
      }),
    repeat: async () => {
      if (attempt) await send(attempt)
    },
    async finish(seen) {
      const failure = await run(async () => {
        if (await finish(session.api, seen)) own.delete(uid)
        else notify({ tone: 'warn', text: GONE_ON })
      })
      setError(failure)
    },
    async goOn() {
      if (value === undefined) return
      const failure = await run(() => session.goOn(value))
      setError(failure)
      if (failure === undefined) notify({ tone: 'good', text: `You are signed in with the new value of ${name}.` })
    },
  }
}
