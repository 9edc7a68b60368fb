/** Returns the addresses and CIDRs in what a person types: one a line, or with commas between them. */
export const sourcesOf = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')
