//! Reads the chats Cursor keeps on disk.
