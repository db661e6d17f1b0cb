/** Opens all, or none: closes those that are open when one cannot be opened, and rejects as that one did. */
export async function openAll<Of, Opened extends { close(): void }>(
  of: readonly Of[],
  open: (one: Of) => Promise<Opened>,
): Promise<ReadonlyMap<Of, Opened>> {
  const opened = new Map<Of, Opened>()
  try {
    for (const one of of) opened.set(one, await open(one))
    return opened
  } catch (error) {
    for (const one of opened.values()) one.close()
    throw error
  }
}
