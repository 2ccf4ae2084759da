// managed by `cueme init`: edits in here are replaced
export const Cueme = async () => ({});
