/** Opens, keeps and ends the session of the tab. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { MINUTE_MS } from '../../../../lib/engine/meta/value/durations.ts'
import type { Self } from '../../../core/src/objects.ts'
import { createApi } from '../api/client.ts'
import { freshWarnings } from '../api/freshwarnings.ts'
import { paths } from '../api/paths.ts'
import { sendForm } from '../api/request.ts'
import { apiRoot } from '../api/root.ts'
import { ApiError, errorWords } from '../api/status.ts'
import { distance, relative } from '../text/times.ts'
import { askAccount, asksAccount, forgetAccount, type Returned } from './attempt.ts'
import { sharedStorage, tabStorage } from './browserstorage.ts'
import { type Copies, openCopies } from './copies.ts'
import { forgetKey, formerKey, keepKey, keptKey } from './keptkey.ts'
import { useNotify } from './notices.ts'
import type { Session, SessionEnd, SignIn } from './session.ts'
import { type SignInSettings, signInSettings } from './signinsettings.ts'
import { watchEnd } from './watchend.ts'

/** The identity provider of the company. */
export interface Federated {
  /** Such as `login.company.example`. */
  host: string
  /** Leaves for it. Throws a KnownError if it cannot be used. */
  leave(keep: boolean): Promise<void>
  /** Where the person signs out there, after they have signed out here or were refused, if it has such a page. */
  signOutAddress?: string
}

export interface SessionControl {
  session?: Session
  /** Whether the key of before a reload is being checked, or the answer of an identity provider. */
  isRestoring: boolean
  /** Why the last session ended, or why there is none. */
  end?: SessionEnd
  /** Absent: people sign in with a key only. */
  federated?: Federated
  /** Throws an ApiError or NetworkError if the key is not accepted. */
  signIn(given: SignIn): Promise<void>
}

/** Only who signs in with an identity provider needs this script. */
const flow = () => import('./federatedsignin.ts')

/** From this difference on, relative times mislead. */
const WRONG_CLOCK_MS = 5 * MINUTE_MS

/** `returned` is the answer of the identity provider with which the page was opened. */
export function useSessionControl(returned: Returned | undefined): SessionControl {
  const [settings] = useState(settingsOfPage)
  const [session, setSession] = useState<Session>()
  const [end, setEnd] = useState<SessionEnd>()
  const [isRestoring, setRestoring] = useState(
    () => returned !== undefined || keptKey(tabStorage, new Date()) !== undefined,
  )
  /** Whether the last person has signed out, or was refused: the next sign-in asks for the account. */
  const [isOver, setOver] = useState(() => asksAccount(sharedStorage))
  const [signOutAt, setSignOutAt] = useState<string>()
  const notify = useNotify()
  const kept = useRef<SignIn | undefined>(undefined)
  const copies = useRef<Copies>(undefined)

  const finish = (reason?: SessionEnd) => {
    forgetKey(tabStorage)
    kept.current = undefined
    setSession(undefined)
    setEnd(reason)
  }

  const chooseNext = () => {
    if (!settings) return
    setOver(true)
    askAccount(sharedStorage)
  }

  /** Ends a key if it was made for a session. */
  const endKey = (noun: string, given: { key: string; ends?: number } | undefined) => {
    if (given?.ends === undefined) return
    const expires = relative(new Date(given.ends), new Date(), 'future')
    const text = `The server did not confirm that ${noun} has ended. It expires ${expires}.`
    revoke(given.key).catch(() => notify({ tone: 'warn', text }))
  }

  /** Ends the session, and the key if it was made for the session. */
  const leave = (reason?: SessionEnd) => {
    const given = kept.current
    finish(reason)
    endKey('your key', given)
    chooseNext()
  }

  const signIn = async (asked: SignIn, before?: SignIn) => {
    const id = asked.id ?? crypto.randomUUID()
    const given: SignIn = { ...asked, id }
    const { key, keep, ends } = given
    const { self, ahead } = await identify(key)
    // The session to go on with may have ended meanwhile.
    if (before !== undefined && kept.current !== before) return
    const api = createApi({
      root: apiRoot,
      key,
      // A late answer to an earlier session must not end this one.
      onEnd(detail) {
        if (kept.current === given) finish({ title: 'Your access key is no longer valid.', details: [detail] })
      },
      onWarnings: freshWarnings((text) => {
        if (kept.current === given) notify({ tone: 'warn', text })
      }),
    })
    kept.current = given
    if (before === undefined) endKey('the key of your previous session', formerKey(tabStorage, key))
    if (keep) keepKey(tabStorage, { ...given, seen: Date.now() })
    // Another key may still be kept that could not be checked after a reload.
    else forgetKey(tabStorage)
    setEnd(undefined)
    setSession({
      api,
      self,
      ...(ends !== undefined && { ends }),
      ...(ends !== undefined &&
        settings && {
          // Only a key that is kept can go on if signing in fails. It ends after the sign-in.
          signInAgain: async () =>
            (await flow()).leaveToSignIn(settings, { keep, onLeave: () => keep || endKey('your key', given) }),
        }),
      cache: new Map(),
      signOut: () => {
        copies.current?.tell()
        leave()
      },
      goOn: (next) => signIn({ ...given, key: next }, given),
    })
    if (Math.abs(ahead) >= WRONG_CLOCK_MS) notify({ tone: 'warn', text: clockWords(ahead) })
  }

  const restore = async () => {
    const restored = keptKey(tabStorage, new Date())
    setRestoring(restored !== undefined)
    try {
      if (restored) await signIn({ ...restored, keep: true })
      else finish()
    } catch (error) {
      // The server may answer later. A key that it has refused is forgotten.
      if (error instanceof ApiError && error.code === 401) finish(errorWords(error))
      else setEnd({ ...errorWords(error), retry: () => void restore() })
    }
    setRestoring(false)
  }

  /** Signs in with the answer of the identity provider. If it fails, the session of before goes on, if its key was kept. */
  const complete = async (answer: Returned, asked: SignInSettings) => {
    try {
      const wait = (seconds: number) => {
        notify({ tone: 'warn', text: `The server cannot check your sign-in yet. Next try in ${seconds} s.` })
        return new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000))
      }
      const { keyOf } = await flow()
      await signIn({ ...(await keyOf(answer, asked, wait)), keep: answer.attempt?.keep === true })
      setOver(false)
      forgetAccount(sharedStorage)
    } catch (error) {
      const reason = errorWords(error)
      chooseNext()
      await restore()
      if (kept.current) notify({ tone: 'bad', text: [reason.title, ...reason.details].join(' ') })
      else setEnd((other) => other ?? reason)
    }
    setRestoring(false)
  }

  // A session that is kept begins without the person, and so does one from the identity provider.
  // Before anything is drawn, which takes a slow machine a while.
  useLayoutEffect(() => {
    if (returned && settings) void complete(returned, settings)
    else if (isRestoring) void restore()
  }, [])

  useEffect(() => (session ? watchEnd(kept, { leave, finish }) : undefined), [session])

  // A provider that cannot be read is one without such a page: the next sign-in says what is wrong.
  const isLeft = isOver && !isRestoring && !session
  useEffect(() => {
    setSignOutAt(undefined)
    if (!isLeft || !settings) return
    flow()
      .then(({ signOutAddress }) => signOutAddress(settings))
      .then(setSignOutAt, () => {})
  }, [isLeft, settings])
  useEffect(() => {
    const id = kept.current?.id
    if (!session || id === undefined) return
    copies.current = openCopies(id, () => finish({ title: 'You have signed out in a copy of this tab.', details: [] }))
    return () => copies.current?.close()
  }, [session])

  return {
    ...(session && { session }),
    isRestoring,
    ...(end && { end }),
    ...(settings && {
      federated: {
        host: new URL(settings.issuer).host,
        leave: async (keep: boolean) => (await flow()).leaveToSignIn(settings, { keep }),
        ...(signOutAt !== undefined && { signOutAddress: signOutAt }),
      },
    }),
    signIn,
  }
}

/**
 * Returns whose the key is, and how many milliseconds the clock of this device is ahead of that of the server. Throws an ApiError or
 * NetworkError if the key is not accepted.
 */
async function identify(key: string): Promise<{ self: Self; ahead: number }> {
  let ahead = 0
  const onTime = (time: number) => {
    ahead = Date.now() - time
  }
  const api = createApi({ root: apiRoot, key, onTime })
  const { status } = await api.send<{ status: Self }>(paths.selves, { method: 'POST', body: {} })
  return { self: status, ahead }
}

/** Ends a key that an exchange made, even while the page is being closed. Throws if it may not have ended. */
async function revoke(key: string): Promise<void> {
  const { status } = await sendForm(new URL('oauth2/revoke', apiRoot), { token: key }, true)
  if (status !== 200) throw new Error(`code ${status}`)
}

function clockWords(ahead: number): string {
  const relation = ahead > 0 ? 'ahead of' : 'behind'
  return `The clock of this device is ${distance(ahead)} ${relation} that of the server. Relative times are wrong by as much.`
}

/** Returns the settings for signing in with an identity provider that the page has, if any. */
export const settingsOfPage = (): SignInSettings | undefined =>
  signInSettings(document.querySelector('meta[name="keyplane-sign-in"]')?.getAttribute('content'))
