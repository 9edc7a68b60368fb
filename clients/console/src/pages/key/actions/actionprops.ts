/** Declares what the page and its parts, which are loaded later, both know. */
import type { AccessKey } from '../../../../../core/src/objects.ts'

/** What a part of the page that changes the key gets. */
export interface KeyProps {
  accessKey: AccessKey
  /** Reads the key again. */
  refresh(): Promise<void>
}

/** What the dialog of an action gets: the key as it was when the person chose the action. */
export interface ActionProps extends KeyProps {
  onClose(): void
}
