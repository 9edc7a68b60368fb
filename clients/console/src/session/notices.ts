/** Tells the person what happened: short sentences that every page can show, and that screen readers announce. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export interface NoticeText {
  tone: 'good' | 'warn' | 'bad'
  text: string
}

export const NoticeContext = createContext<(notice: NoticeText) => void>(() => {})

/** Returns the function that shows a notice. */
export const useNotify = (): ((notice: NoticeText) => void) => useContext(NoticeContext)
