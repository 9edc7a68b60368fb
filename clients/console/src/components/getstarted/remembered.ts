/** Remembers in this browser that a deployment needs no "Get started" any more. It says nothing about the person. */
import type { Self } from '../../../../core/src/objects.ts'
import { consoleRoot } from '../../api/root.ts'
import { sharedStorage } from '../../session/browserstorage.ts'

/** Other stages may have the same host. */
const NAME = `keyplane-get-started ${consoleRoot.pathname}`

/** Reports whether the person may do everything: an administrator whose key has no scope. */
export const isAdministrator = ({ groups, accessKeyScope }: Self): boolean =>
  groups?.includes('system:masters') === true && accessKeyScope === undefined

/** Reports whether the panel was dismissed, or everything in it is done. A key with a scope may do nothing of it. */
export const isOver = (self: Self): boolean => self.accessKeyScope !== undefined || sharedStorage.getItem(NAME) !== null

export const dismiss = (): void => sharedStorage.setItem(NAME, 'dismissed')

export const showAgain = (): void => sharedStorage.removeItem(NAME)
